// The control segment: the memory that the PEs of one world share from bootstrap to destroy. Plain structs of
// fixed-size integers, no pointers, no std:: types, so that a CUDA kernel can share the layout and the rules.
//
//   +----------------+  0
//   | ControlHeader  |  who the world is; abort word, sleepers, wake word; abort record
//   +----------------+
//   | PeRecord[pes]  |  written once by each PE when it connects
//   +----------------+
//   | StepLine[pes]  |  how far each PE is: what others spin on
//   +----------------+
//   | CallLine[pes]  |  which call each PE is in: what others read when a wait lasts
//   +----------------+
//   | packets        |  [pes][2] slots of kPacketLines lines: data and flag travel in one cache line
//   +----------------+
//   | staging        |  [pes][2] slots of slot_bytes: data here, flag in the StepLine of the PE
//   +----------------+  segment_bytes
//
// Steps. A collective consists of one or more steps, and every PE counts them alike: step numbers start at 1, grow by
// one, and never start again. In step s a PE may write its own slot s % 2, then stores s in its StepLine ("posts"), and
// may then read the slots s % 2 of those PEs whose StepLine it has seen at s or more.
//
// Rotation. A PE that posts s has done with all that it reads in steps before s. So the slot of step s is free for step
// s + 2 once every PE that may read it has posted s + 1. A PE therefore never writes in step s before it has seen s - 1
// from all. Where each step waits for all PEs, the wait of step s - 1 has shown that already; where it does not (the
// root of a broadcast), the PE looks at the others' StepLines. It follows that no PE is ever more than one step ahead
// of a PE that waits for it, which is why two slots do, and why nothing is ever cleared: flags only grow.
//
// Packets. A line of 64 bytes holds 56 bytes of data and, written last, a flag that mixes the step number with the
// call's signature. x86 makes stores visible in order, so a reader that sees the flag sees the data, with one transfer
// between the cores. The slot rotation is the same. Lines are never cleared either: an old flag never equals a new one.
#ifndef SPARKGAP_PROTOCOL_LAYOUT_H
#define SPARKGAP_PROTOCOL_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/beside_record.h"

namespace sparkgap {

constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kSlots = 2;

constexpr uint64_t kPacketDataBytes = 56;
constexpr uint64_t kPacketLines = 32;
constexpr uint64_t kMaxPacketDataBytes = kPacketLines * kPacketDataBytes;

constexpr uint64_t kLabelBytes = 128;
constexpr uint64_t kHostBytes = 64;
constexpr uint64_t kReasonBytes = 2048;

// States of ControlHeader::abort_state. It only grows.
enum : uint32_t { kRunning = 0, kAborting = 1, kAborted = 2 };

// States of PeRecord::state. It only grows.
// kDetached: it has left, and its process has given up its way to the other PEs' GPU memory.
enum : uint32_t { kAbsent = 0, kConnecting = 1, kConnected = 2, kLeft = 3, kDetached = 4 };

struct AbortRecord {
  int32_t status;   // what every call of every PE fails with
  int32_t by;       // the PE that aborted the world
  int32_t subject;  // the PE that the failure is about, or -1
  int32_t reserved;
  char label[kLabelBytes];  // of `by`
  char reason[kReasonBytes];
};

struct alignas(kPageBytes) ControlHeader {
  // First line: never changes after PE 0 made the segment.
  uint64_t magic;
  uint32_t abi_version;
  int32_t pes;
  uint64_t epoch;
  uint64_t key[2];
  uint64_t segment_bytes;
  uint64_t slot_bytes;
  // A world may have more PEs than this segment, which is of one node of it: what the world calls the node's first PE,
  // and how many PEs the world has. PEs that people are told of, and those of the abort record, are the world's.
  int32_t first_pe;
  int32_t world_pes;

  // Second line: read at each call and each post, written when something unusual happens, so it stays in every cache.
  alignas(kLineBytes) uint32_t abort_state;
  uint32_t sleepers;  // PEs in a futex wait

  // Third line: the futex.
  alignas(kLineBytes) uint32_t wake;

  // Fourth line: grows while a PE is at work inside a call for long, which is no reason to give it up.
  alignas(kLineBytes) uint64_t progress;

  alignas(kLineBytes) AbortRecord abort;
};

// The CPUs that a process may run on, and its container's share of the CPUs' time.
constexpr uint64_t kMostCpus = 1024;
struct CpuLimits {
  uint64_t allowed[kMostCpus / 64];  // a bit for each; none if that is not known
  uint64_t quota_group;              // inode of the control group that limits it most; 0 if none does
  int32_t quota;  // CPUs whose time the processes of that group have together; INT32_MAX if none does
  int32_t reserved;
};

// What all PEs of a world were made with alike; connect compares it.
struct AgreedOptions {
  int64_t peer_timeout_ms;
  uint64_t hints;   // a digest; 0: none
  uint64_t tables;  // likewise
  int32_t check;
  int32_t deterministic;
  char provider[16];
};

struct alignas(kLineBytes) PeRecord {
  uint32_t state;
  int32_t pid;          // others copy it once, when all have connected (provider/host/peer_process.h)
  uint64_t start_time;  // of the process, in clock ticks since boot: tells a PID that was given again
  CpuLimits cpus;       // of the process when it connected
  AgreedOptions options;
  char label[kLabelBytes];
  char host[kHostBytes];
  BesideRecord beside;
};

// Two cache lines apart, so that a prefetcher that fetches pairs does not pull a neighbour's line along.
struct alignas(2 * kLineBytes) StepLine {
  uint64_t step;
  // What the call of a step is about, by step % 2; lets peers see at no cost that they are not in the same call.
  uint64_t signature[kSlots];
  // A word to the others, by step % 2, in steps that have one. It rotates as slots do, and comes with the step's
  // number.
  uint64_t shown[kSlots];
  // One more than the number of the CPU on which the PE ran when it posted, or when it looked last in a wait that
  // lasts; 0: not known.
  uint32_t cpu;
};

// One call, as its caller made it.
struct CallSignature {
  int16_t operation;  // SPARKGAP_ALL_REDUCE..., SPARKGAP_DISPATCH... or one of the Operation values below
  int16_t algorithm;  // that it takes; 0 for what has none
  int16_t type;
  int16_t op;
  int32_t root;
  uint32_t buffer;  // of allocate, free and exchanges of rows: its number, in the order of allocation from 1; else 0
  uint64_t count;
};

// Further values of CallSignature::operation: collective calls that do not reduce or move a user's elements.
enum : int16_t { kOperationConnect = 100, kOperationAllocate = 101, kOperationFree = 102 };

// Calls are numbered like steps: from 1, alike on every PE. A PE writes signature[number % 4], then `begun`; when the
// call returns it writes `ended`. The signature of call c is overwritten by call c + 4, so a reader that finds `begun`
// at c + 2 or less after it has read the signature has read it whole. Between `begun` of one call and the signature of
// the next stands a release fence, between the two reads an acquire fence.
//
// Runs. A PE whose function has ended says so: it writes `last_of_run`, the number of its last call, and then counts
// `runs` up. Whoever is still in the same run, and has begun a later call, waits for it in vain.
constexpr uint64_t kCallsKept = 4;
struct alignas(2 * kLineBytes) CallLine {
  uint64_t begun;
  uint64_t ended;
  CallSignature signature[kCallsKept];
  uint64_t runs;
  uint64_t last_of_run;
};

struct alignas(kLineBytes) Packet {
  uint8_t data[kPacketDataBytes];
  uint64_t flag;
};

static_assert(sizeof(Packet) == kLineBytes, "a packet is one cache line");
static_assert(offsetof(StepLine, cpu) < kLineBytes, "what a PE posts is one cache line");
static_assert(sizeof(CallLine) == 2 * kLineBytes, "a PE's call is published on its own lines");

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_LAYOUT_H
