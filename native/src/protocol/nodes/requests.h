// What a PE asks of one of another node, and what is carried out there as it arrives.
#ifndef SPARKGAP_PROTOCOL_NODES_REQUESTS_H
#define SPARKGAP_PROTOCOL_NODES_REQUESTS_H

#include <cstdint>

namespace sparkgap {

enum class RequestKind : uint32_t { kSet = 1, kAdd = 2, kFetchAdd = 3 };

// On a 64-bit word of the receiver's part of a symmetric buffer.
struct Request {
  RequestKind kind;
  uint32_t reserved;
  uint64_t memory;  // number of the allocation, the same on all PEs
  uint64_t offset;
  int64_t value;
};

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  // Carries it out and returns what the word was before. False if there is no such word; nothing was touched then. Any
  // thread, one at a time.
  virtual bool carry_out(const Request& request, int64_t* before) = 0;
  // All that `peer` had freed until now are one more.
  virtual void on_freed(int32_t peer) = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_REQUESTS_H
