// A step: calls that were recorded once, and are made again as one call.
//
// What is recorded is data, the same structs that the calls themselves are made with, checked and with the algorithm
// that was selected. An engine that can enqueue all at once has besides what it recorded (engine/recorder.h). Either
// way the calls of a run are numbered, shown on the call board and signed one by one, as if they had been made so.
#ifndef SPARKGAP_WORLD_STEP_H
#define SPARKGAP_WORLD_STEP_H

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "description/call.h"
#include "description/one_sided.h"
#include "description/rows.h"
#include "engine/recorder.h"
#include "protocol/call.h"

namespace sparkgap {
class World;

enum class StepCallKind : int32_t { kOneSided = 0, kCollective, kRows };

struct StepCall {
  StepCallKind kind;
  bool is_empty;
  CallSignature signature;  // not of a one-sided call
  uint64_t digest;          // of the signature
  uint64_t bytes;           // that a collective counts with
  union {
    CollectiveCall collective;
    OneSidedCall one_sided;
    RowsCall rows;
  };
  std::unique_ptr<uint64_t[]> tables;  // allToAllv: the caller's, kept
};

}  // namespace sparkgap

struct sparkgap_buffer;

struct sparkgap_step {
  const sparkgap::World* world = nullptr;
  int32_t number = 0;  // in the order of recording
  std::vector<sparkgap::StepCall> calls;
  std::vector<sparkgap_buffer*> buffers;  // that the calls use, each once
  std::unique_ptr<sparkgap::Recorded> recorded;
  pthread_t thread = pthread_self();  // that records it

  int32_t count() const { return static_cast<int32_t>(calls.size()); }
};

namespace sparkgap {

using Step = sparkgap_step;

// "call 7 of 50, allReduce float32 x 1024 SUM, of step 2"
void describe_step_call(Text& text, const Step& step, const StepCall& call);

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_STEP_H
