// What a call is, in one number and in words.
#ifndef SPARKGAP_PROTOCOL_CALL_H
#define SPARKGAP_PROTOCOL_CALL_H

#include <cstdint>

#include "base/error.h"
#include "description/call.h"
#include "protocol/control.h"
#include "protocol/layout.h"

namespace sparkgap {

inline bool operator==(const CallSignature& a, const CallSignature& b) {
  return a.operation == b.operation && a.type == b.type && a.op == b.op && a.root == b.root && a.count == b.count;
}

// A hash of the signature: equal for equal calls, and different for different ones but for one pair in 2^64.
inline uint64_t mix(const CallSignature& call) {
  const uint64_t small = (static_cast<uint64_t>(static_cast<uint32_t>(call.operation)) << 48) ^
                         (static_cast<uint64_t>(static_cast<uint32_t>(call.type)) << 40) ^
                         (static_cast<uint64_t>(static_cast<uint32_t>(call.op)) << 32) ^
                         static_cast<uint32_t>(call.root);
  uint64_t hash = (small + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 29;
  hash = (hash ^ call.count) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 32);
}

// What of a call has to be alike on all PEs: the arguments that the collective has; -1 in the place of others.
constexpr CallSignature signature_of(const CollectiveCall& call) {
  const Collective& what = description_of(call);
  return {call.collective, what.has_type ? call.type : -1, what.has_op ? call.op : -1, what.has_root ? call.root : -1,
          what.has_count ? call.count : 0};
}

// "allReduce", "connect"
const char* operation_name(int32_t operation);

// "call #41 allReduce float32 x 1024 SUM"
void describe_call(Text& text, uint64_t number, const CallSignature& call);

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

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_CALL_H
