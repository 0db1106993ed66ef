#include "protocol/call.h"

#include "description/collective.h"
#include "description/types.h"

namespace sparkgap {
namespace {

CallSignature read_signature(const CallSignature& shared) {
  CallSignature copy;
  copy.operation = load_relaxed(&shared.operation);
  copy.algorithm = load_relaxed(&shared.algorithm);
  copy.type = load_relaxed(&shared.type);
  copy.op = load_relaxed(&shared.op);
  copy.root = load_relaxed(&shared.root);
  copy.buffer = load_relaxed(&shared.buffer);
  copy.count = load_relaxed(&shared.count);
  return copy;
}

void describe_one(Text& text, const NamedPe& who, uint64_t number, const CallSignature& call,
                  const CallSignature& other) {
  text.add("PE %d (%s) made ", who.pe, who.label);
  describe_call(text, number, call);
  CallSignature alike = other;
  alike.algorithm = call.algorithm;
  if (!(alike == call) || call.algorithm <= 0 || call.algorithm >= kAlgorithms) return;
  text.add(" by %s", algorithm_name(static_cast<Algorithm>(call.algorithm)));
}

}  // namespace

const char* operation_name(int32_t operation) {
  if (is_collective(operation)) return kCollectives[operation].name;
  if (is_rows_operation(operation)) return rows_operation_name(operation);
  switch (operation) {
    case kOperationConnect:
      return "connect";
    case kOperationAllocate:
      return "allocate";
    case kOperationFree:
      return "free";
    default:
      return "an unknown operation";
  }
}

void describe_call(Text& text, uint64_t number, const CallSignature& call) {
  text.add("call #%llu ", static_cast<unsigned long long>(number));
  describe_signature(text, call);
}

void describe_signature(Text& text, const CallSignature& call) {
  text.add("%s", operation_name(call.operation));
  const unsigned long long count = call.count;
  if (call.operation == kOperationAllocate) text.add(" %llu bytes", count);
  if (call.operation == kOperationFree) text.add(" %llu bytes of buffer #%u", count, call.buffer);
  if (is_rows_operation(call.operation)) {
    text.add(" of rows of %s x %llu, shape %08x, in buffer #%u", type_name(call.type), count,
             static_cast<unsigned>(call.root), call.buffer);
  }
  if (!is_collective(call.operation)) return;
  const Collective& what = kCollectives[call.operation];
  if (what.has_type) text.add(" %s", type_name(call.type));
  if (what.has_count) text.add(" x %llu", count);
  if (what.has_op) text.add(" %s", op_name(call.op));
  if (what.has_root) text.add(" %s PE %d", what.root_preposition(), call.root);
}

ObservedCall observe_call(const CallLine& line) {
  ObservedCall seen;
  // `ended` first: if it is the number that `begun` is found at afterwards, the PE was outside a call in between.
  const uint64_t ended = load_acquire(&line.ended);
  seen.begun = load_acquire(&line.begun);
  seen.inside = ended != seen.begun;
  seen.whole = seen.begun != 0 && find_call(line, seen.begun, &seen.signature);
  return seen;
}

bool find_call(const CallLine& line, uint64_t number, CallSignature* signature) {
  if (load_acquire(&line.begun) < number) return false;
  *signature = read_signature(line.signature[number % kCallsKept]);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return load_relaxed(&line.begun) <= number + kCallsKept - 2;
}

CallLine copy_calls(const CallLine& line) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    CallLine copy = {};
    copy.ended = load_acquire(&line.ended);
    copy.begun = load_acquire(&line.begun);
    for (uint64_t number = 0; number < kCallsKept; ++number) {
      copy.signature[number] = read_signature(line.signature[number]);
    }
    copy.runs = load_relaxed(&line.runs);
    copy.last_of_run = load_relaxed(&line.last_of_run);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    // The signature of the next call may be there already; it is in the place of one that nobody asks for.
    if (load_relaxed(&line.begun) == copy.begun) return copy;
  }
  return {};
}

bool find_difference(const CallLine& own, const CallLine& theirs, CallDifference* found) {
  const uint64_t newest = load_acquire(&own.begun);
  for (uint64_t number = newest < kCallsKept ? 1 : newest - kCallsKept + 1; number <= newest; ++number) {
    // Either may change meanwhile: a watcher of a GPU world compares from a thread of its own.
    CallDifference seen;
    seen.number = number;
    if (!find_call(own, number, &seen.own) || !find_call(theirs, number, &seen.theirs)) continue;
    if (seen.own == seen.theirs) continue;
    *found = seen;
    return true;
  }
  return false;
}

void describe_difference(Text& text, const NamedPe& own, const NamedPe& other, const CallDifference& difference) {
  text.add("PEs made different calls: ");
  describe_one(text, own, difference.number, difference.own, difference.theirs);
  text.add(", ");
  describe_one(text, other, difference.number, difference.theirs, difference.own);
  text.add("; every PE must make the same collective calls in the same order");
}

}  // namespace sparkgap
