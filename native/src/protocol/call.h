// What a call is, in one number and in words.
#ifndef SPARKGAP_PROTOCOL_CALL_H
#define SPARKGAP_PROTOCOL_CALL_H

#include <cstdint>

#include "base/error.h"
#include "description/call.h"
#include "description/rows.h"
#include "protocol/atomics.h"
#include "protocol/control.h"
#include "protocol/layout.h"

namespace sparkgap {

inline bool operator==(const CallSignature& a, const CallSignature& b) {
  return a.operation == b.operation && a.algorithm == b.algorithm && a.type == b.type && a.op == b.op &&
         a.root == b.root && a.buffer == b.buffer && a.count == b.count;
}

// A hash of the signature: equal for equal calls, and different for different ones but for one pair in 2^64.
inline uint64_t mix(const CallSignature& call) {
  const uint64_t what = (static_cast<uint64_t>(static_cast<uint16_t>(call.operation)) << 48) |
                        (static_cast<uint64_t>(static_cast<uint16_t>(call.algorithm)) << 32) |
                        (static_cast<uint64_t>(static_cast<uint16_t>(call.type)) << 16) |
                        static_cast<uint16_t>(call.op);
  const uint64_t which = (static_cast<uint64_t>(static_cast<uint32_t>(call.root)) << 32) | call.buffer;
  uint64_t hash = (what + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 29;
  hash = (hash ^ which) * 0xd6e8feb86659fd93u;
  hash ^= hash >> 32;
  hash = (hash ^ call.count) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 32);
}

// What of a call has to be alike on all PEs: the algorithm, and the arguments that the collective has; -1 in the place
// of others.
constexpr CallSignature signature_of(const CollectiveCall& call) {
  const Collective& what = description_of(call);
  CallSignature signature = {};
  signature.operation = static_cast<int16_t>(call.collective);
  signature.algorithm = static_cast<int16_t>(call.algorithm);
  signature.type = static_cast<int16_t>(what.has_type ? call.type : -1);
  signature.op = static_cast<int16_t>(what.has_op ? call.op : -1);
  signature.root = what.has_root ? call.root : -1;
  signature.count = what.has_count ? call.count : 0;
  return signature;
}

// The same of a call that exchanges rows; `root` is a digest of the shape but for its type and width.
constexpr CallSignature signature_of(const RowsCall& call) {
  const RowsPlan& plan = call.plan;
  uint64_t shape = 0x9e3779b97f4a7c15u;
  for (const uint64_t part :
       {static_cast<uint64_t>(plan.experts), static_cast<uint64_t>(plan.top), static_cast<uint64_t>(plan.to_experts),
        static_cast<uint64_t>(plan.float8), plan.rows, plan.capacity}) {
    shape = (shape ^ part) * 0xbf58476d1ce4e5b9u;
    shape ^= shape >> 29;
  }
  CallSignature signature = {};
  signature.operation = static_cast<int16_t>(call.operation);
  signature.type = static_cast<int16_t>(plan.type);
  signature.op = -1;
  signature.root = static_cast<int32_t>(shape >> 32);
  signature.buffer = call.buffer;
  signature.count = plan.width;
  return signature;
}

// Into a PE's own line, where others may be reading it.
inline void write_signature(CallSignature* shared, const CallSignature& call) {
  store_relaxed(&shared->operation, call.operation);
  store_relaxed(&shared->algorithm, call.algorithm);
  store_relaxed(&shared->type, call.type);
  store_relaxed(&shared->op, call.op);
  store_relaxed(&shared->root, call.root);
  store_relaxed(&shared->buffer, call.buffer);
  store_relaxed(&shared->count, call.count);
}

// "allReduce", "connect"
const char* operation_name(int32_t operation);

// "call #41 allReduce float32 x 1024 SUM"
void describe_call(Text& text, uint64_t number, const CallSignature& call);

// The same without the number.
void describe_signature(Text& text, const CallSignature& call);

// What a PE's CallLine says, read while that PE may be writing it.
struct ObservedCall {
  uint64_t begun = 0;   // number of the call it began last; 0: none
  bool inside = false;  // that call has not returned
  bool whole = false;   // signature is that of call `begun`
  CallSignature signature = {};
};
ObservedCall observe_call(const CallLine& line);

// The signature that a PE gave to call `number`, if it still stands in its line.
bool find_call(const CallLine& line, uint64_t number, CallSignature* signature);

// What another PE's line says, to be looked at elsewhere; a line without calls while that PE makes one after the other.
CallLine copy_calls(const CallLine& line);

// Two PEs' calls of the same number that differ.
struct CallDifference {
  uint64_t number;
  CallSignature own;
  CallSignature theirs;
};
// The first that both lines still have. Calls that ask nothing of peers return at once, so it may lie some calls back.
bool find_difference(const CallLine& own, const CallLine& theirs, CallDifference* found);

// Who that is, for people.
struct NamedPe {
  int32_t pe;  // as the world numbers it
  const char* label;
};
// "PEs made different calls: PE 0 (executor 1) made call #7 allReduce float32 x 4 SUM, PE 1 (...) made ...; ..."; " by
// two-shot" follows a call where nothing else tells them apart.
void describe_difference(Text& text, const NamedPe& own, const NamedPe& other, const CallDifference& difference);

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_CALL_H
