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

}  // namespace

const char* operation_name(int32_t operation) {
  if (is_collective(operation)) return kCollectives[operation].name;
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
  text.add("call #%llu %s", static_cast<unsigned long long>(number), operation_name(call.operation));
  const unsigned long long count = call.count;
  if (call.operation == kOperationAllocate) text.add(" %llu bytes", count);
  if (call.operation == kOperationFree) text.add(" %llu bytes of buffer #%u", count, call.buffer);
  if (!is_collective(call.operation)) return;
  const Collective& what = kCollectives[call.operation];
  if (what.has_type) text.add(" %s", type_name(call.type));
  if (what.has_count) text.add(" x %llu", count);
  if (what.has_op) text.add(" %s", op_name(call.op));
  if (what.has_root) text.add(" %s PE %d", what.root_preposition(), call.root);
}

void describe_difference(Text& text, uint64_t number, const CallSignature& call, const CallSignature& other) {
  describe_call(text, number, call);
  CallSignature alike = other;
  alike.algorithm = call.algorithm;
  if (!(alike == call) || call.algorithm <= 0 || call.algorithm >= kAlgorithms) return;
  text.add(" by %s", algorithm_name(static_cast<Algorithm>(call.algorithm)));
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

}  // namespace sparkgap
