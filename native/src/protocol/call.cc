#include "protocol/call.h"

#include "protocol/atomics.h"

namespace sparkgap {
namespace {

constexpr const char* kTypeNames[SPARKGAP_TYPES] = {"float32", "float64", "float16", "bfloat16",
                                                    "int8",    "uint8",   "int32",   "int64"};
constexpr const char* kOpNames[SPARKGAP_OPS] = {"SUM", "PROD", "MIN", "MAX", "AVG"};
constexpr const char* kCollectiveNames[SPARKGAP_COLLECTIVES] = {"allReduce", "reduceScatter", "allGather", "broadcast",
                                                                "reduce",    "allToAll",      "allToAllv", "barrier"};

CallSignature read_signature(const CallSignature& shared) {
  CallSignature copy;
  copy.operation = load_relaxed(&shared.operation);
  copy.type = load_relaxed(&shared.type);
  copy.op = load_relaxed(&shared.op);
  copy.root = load_relaxed(&shared.root);
  copy.count = load_relaxed(&shared.count);
  return copy;
}

}  // namespace

const char* operation_name(int32_t operation) {
  if (operation >= 0 && operation < SPARKGAP_COLLECTIVES) return kCollectiveNames[operation];
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

const char* type_name(int32_t type) {
  return type >= 0 && type < SPARKGAP_TYPES ? kTypeNames[type] : "of an unknown type";
}

const char* op_name(int32_t op) { return op >= 0 && op < SPARKGAP_OPS ? kOpNames[op] : "with an unknown operation"; }

void describe_call(Text& text, uint64_t number, const CallSignature& call) {
  text.add("call #%llu %s", static_cast<unsigned long long>(number), operation_name(call.operation));
  const unsigned long long count = call.count;
  switch (call.operation) {
    case SPARKGAP_ALL_REDUCE:
    case SPARKGAP_REDUCE_SCATTER:
      text.add(" %s x %llu %s", type_name(call.type), count, op_name(call.op));
      break;
    case SPARKGAP_REDUCE:
      text.add(" %s x %llu %s to PE %d", type_name(call.type), count, op_name(call.op), call.root);
      break;
    case SPARKGAP_BROADCAST:
      text.add(" %s x %llu from PE %d", type_name(call.type), count, call.root);
      break;
    case SPARKGAP_ALL_GATHER:
    case SPARKGAP_ALL_TO_ALL:
      text.add(" %s x %llu", type_name(call.type), count);
      break;
    case SPARKGAP_ALL_TO_ALLV:
      text.add(" %s", type_name(call.type));
      break;
    case kOperationAllocate:
    case kOperationFree:
      text.add(" %llu bytes", count);
      break;
    default:
      break;
  }
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
