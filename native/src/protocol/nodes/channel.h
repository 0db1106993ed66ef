// The parts of a channel; for channels*.cc alone.
#ifndef SPARKGAP_PROTOCOL_NODES_CHANNEL_H
#define SPARKGAP_PROTOCOL_NODES_CHANNEL_H

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/layout.h"
#include "protocol/nodes/channels.h"
#include "protocol/nodes/requests.h"
#include "wire/wire.h"

namespace sparkgap {

// WireSignal::kind.
enum SignalKind : uint32_t {
  kMessage = 1,
  kReleased,
  kRequest,
  kRequestsDone,
  kAnswer,
  kFreed,
  kNote,
  kFinished,
  kEnding,
  kAskCalls,
  kCalls
};

constexpr uint64_t kRequests = 32;  // to one PE that may be on the way

// What ends the world, told by the PE whose channel it lies in.
struct AbortNote {
  int32_t status;
  int32_t by;
  int32_t subject;
  int32_t reserved;
  char label[kLabelBytes];
  char reason[kReasonBytes];
};

// What may still be on its way is not written again.
constexpr uint64_t kFinishNotes = 8;

// The PE's function has ended so often, the last time after that call.
struct FinishNote {
  uint64_t runs;
  uint64_t last_of_run;
};

struct alignas(kPageBytes) Channels::Head {
  AbortNote note;
  FinishNote finished;
  int64_t answer;
  Request requests[kRequests];
  CallLine calls;  // of the PE whose channel it lies in, when it was asked last
};

struct Channels::Channel {
  WireMemory inbox;  // the peer's
  // Of the PE's thread. Positions in the room, but for `received`.
  uint64_t sent = 0;
  uint64_t received = 0;  // messages
  uint64_t in_hand = 0;   // the end of the message that was received last
  uint64_t released = 0;
  uint64_t requests_sent = 0;
  std::atomic<uint64_t> told{0};  // of `released`
  // Of whoever makes progress.
  alignas(kLineBytes) std::atomic<uint64_t> arrived{0};
  std::atomic<uint64_t> released_there{0};
  std::atomic<uint64_t> requests_done_there{0};
  std::atomic<uint64_t> answers{0};
  std::atomic<uint64_t> requests_done{0};
  std::atomic<uint64_t> requests_told{0};
  std::atomic<bool> owes_answer{false};
  std::atomic<bool> ending{false};
  std::atomic<uint64_t> runs{0};  // see FinishNote
  std::atomic<uint64_t> last_of_run{0};
  int64_t answer = 0;
  std::atomic<uint64_t> calls_told{0};
  std::atomic<bool> owes_calls{false};
  CallLine calls = {};                 // this PE's, on its way
  std::unique_ptr<uint32_t[]> checks;  // of the messages in the room, of which there are no more than it has units
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_CHANNEL_H
