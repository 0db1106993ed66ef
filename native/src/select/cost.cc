#include "select/cost.h"

#include <algorithm>
#include <cmath>

namespace sparkgap {
namespace {

// Host memory, from bench/results/collectives.json (2 cores of a Xeon at 2 PEs, 4 PEs on the same).
constexpr double kFlagUs = 0.15;         // until the others have seen a flag; floor.round_trip_ns is 136
constexpr double kPacketsUs = 0.28;      // packets of 64 B, 2 PEs
constexpr double kSwitchUs = 1.1;        // a wait for each PE more than there are CPUs; 4 PEs on 2 cores, 64 B
constexpr double kCacheGbPerS = 20;      // one-shot of 64 KiB: three times the message in 9.3 us
constexpr double kMemoryGbPerS = 15;     // direct of 4 MiB: twice the message in 553 us
constexpr double kCacheBytes = 1 << 20;  // of a PE: where the one becomes the other

// GPUs, from bench/results/gpu-shapes-2-h200.json and gpu-collectives-2-h200.json (two H200 over NVLink, in a graph).
constexpr double kGpuPacketsUs = 1.7;       // 64 B
constexpr double kGpuLinesUs = 2.2;         // of 8 KiB
constexpr double kGpuChunksUs = 4.5;        // what one-shot of 16 MiB takes beyond its bytes, its first and last chunk
constexpr double kGpuTwoShotUs = 6.8;       // 64 B; two trips of a lane and their fences
constexpr double kGpuRoundUs = 2.5;         // of a ring: a lane's trip to its neighbour
constexpr double kRingFillBytes = 1 << 20;  // for each PE: what it carries while it fills and empties; by reasoning
constexpr double kNcclUs = 5.8;             // allReduce of 64 B
constexpr double kNcclBandwidth =
    0.78;  // of what ours reach on the same link: 248 us against 205 of 64 MiB, less its start

// A message more to another node, of those that a PE sends at once; the wire's own work, by bench/hosts.py.
constexpr double kSendUs = 0.5;

// Packets carry a flag with each 8 bytes of data, lines 4 in each 128.
constexpr double kPacketOverhead = 2.0;
constexpr double kLineOverhead = 128.0 / 120.0;

// SPARKGAP_LINK_SHM, NVLINK, PCIE, TCP, RDMA. NVLink: the floor in gpu-collectives-2-h200.json. TCP: one PE a host over
// a veth pair, bench/hosts.py. Not measured, for want of such machines: PCI Express is 16 lanes of the 4th generation,
// RDMA a card of 200 Gb/s.
struct LinkCost {
  double us;  // how long a message of nothing is under way, with what its two ends do about it
  double gb_per_s;
};
constexpr LinkCost kLinkCosts[] = {{kFlagUs, kCacheGbPerS}, {1.7, 361}, {3.0, 22}, {8.0, 2.2}, {3.0, 23}};

// Of `link`, which is the world's slowest; shm: of memory.
LinkCost cost_of(int32_t link, const Circumstances& world) {
  LinkCost cost = kLinkCosts[link];
  if (world.link_us > 0) cost.us = world.link_us;
  if (world.link_gb_per_s > 0) cost.gb_per_s = world.link_gb_per_s;
  return cost;
}

double microseconds(double bytes, double gb_per_s) { return bytes / (gb_per_s * 1e3); }

// How many times the message a PE reads and writes in memory, and how often it waits for others.
struct HostWork {
  double copies;
  double waits;
};

HostWork host_work(int32_t collective, Algorithm algorithm, double pes) {
  const bool direct = algorithm == Algorithm::kDirect;
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      if (direct) return {2, 2};
      return algorithm == Algorithm::kTwoShot ? HostWork{3, 2} : HostWork{pes + 1, 1};
    case SPARKGAP_REDUCE_SCATTER:
      return {direct ? pes : 2 * pes, direct ? 2.0 : 1.0};
    case SPARKGAP_ALL_GATHER:
    case SPARKGAP_ALL_TO_ALL:
      return {direct ? pes : pes + (collective == SPARKGAP_ALL_GATHER ? 1 : pes), direct ? 2.0 : 1.0};
    case SPARKGAP_BROADCAST:
    case SPARKGAP_REDUCE:
      return {direct ? 1.5 : 2.5, direct ? 2.0 : 1.5};
    default:
      return {0, 1};
  }
}

double host_us(int32_t collective, Algorithm algorithm, double bytes, const Circumstances& world) {
  const double pes = world.pes;
  const HostWork work = host_work(collective, algorithm, pes);
  // How many PEs a CPU has is known as more than one or not: two stand for more.
  const double turns = world.oversubscribed ? 2 : 1;
  const double wait = world.oversubscribed ? kSwitchUs * 2 : kFlagUs * std::log2(std::max(2.0, pes)) + kFlagUs;
  if (algorithm == Algorithm::kPackets) {
    const double all = kPacketsUs + kFlagUs / 2 * (pes - 2);
    return (world.oversubscribed ? wait : all) + microseconds(bytes * pes * turns, kCacheGbPerS / kPacketOverhead);
  }
  double speed = bytes > kCacheBytes / 2 ? kMemoryGbPerS : kCacheGbPerS;
  if (world.link_gb_per_s > 0) speed = world.link_gb_per_s;
  return work.waits * wait + microseconds(turns * work.copies * bytes, speed);
}

// What a PE sends over its link, in messages; `parts`: what an algorithm in two halves sends.
double sent_messages(int32_t collective, double pes, bool parts) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return parts ? 2 * (pes - 1) / pes : pes - 1;
    case SPARKGAP_BROADCAST:
    case SPARKGAP_REDUCE:
      return parts ? 2 * (pes - 1) / pes : pes - 1;
    case SPARKGAP_BARRIER:
    case SPARKGAP_ALL_TO_ALLV:
      return 0;
    default:
      return pes - 1;  // a block to each
  }
}

// What the bytes of a call pass: the slowest link, and where GPUs are one, NVLink for want of a better word.
int32_t gpu_link(const Circumstances& world) {
  if (world.nodes > 1) return std::max<int32_t>(world.slowest_link, SPARKGAP_LINK_TCP);
  if (world.pcie) return SPARKGAP_LINK_PCIE;
  return std::max<int32_t>(world.slowest_link, SPARKGAP_LINK_NVLINK);
}

double gpu_us(int32_t collective, Algorithm algorithm, double bytes, const Circumstances& world) {
  const double pes = world.pes;
  const int32_t link = gpu_link(world);
  const LinkCost cost = cost_of(link, world);
  // What a trip over this link takes more than one over NVLink.
  const double more = cost.us - kLinkCosts[SPARKGAP_LINK_NVLINK].us;
  // Over PCI Express what all send to all meets on the way up from the switches, what goes round a ring does not.
  const double crossing = link == SPARKGAP_LINK_PCIE && pes > 2 ? 2 : 1;
  const double one_trip = microseconds(bytes * sent_messages(collective, pes, false), cost.gb_per_s) * crossing;
  const double halves = microseconds(bytes * sent_messages(collective, pes, true), cost.gb_per_s);
  switch (algorithm) {
    case Algorithm::kPackets:
      return kGpuPacketsUs + more + kPacketOverhead * one_trip;
    case Algorithm::kLines:
      return kGpuLinesUs + more + kLineOverhead * one_trip;
    case Algorithm::kOneShot:
    case Algorithm::kChunked:
      // A broadcast in chunks is a scatter and a gather.
      if (collective == SPARKGAP_BROADCAST && algorithm == Algorithm::kChunked) {
        return kGpuTwoShotUs + 2 * more + halves * crossing;
      }
      return kGpuChunksUs + more + one_trip;
    case Algorithm::kTwoShot:
      return kGpuTwoShotUs + 2 * more + halves * crossing;
    case Algorithm::kRing:
      return kGpuTwoShotUs + 2 * (pes - 1) * (kGpuRoundUs + more) + halves +
             microseconds(kRingFillBytes * pes, cost.gb_per_s);
    case Algorithm::kFlags:
      return kGpuPacketsUs + more;
    default: {
      // NCCL: a ring or a tree, whichever is better.
      const double steps = 2 * std::log2(std::max(2.0, pes));
      const double data = std::min(one_trip, halves > 0 ? halves : one_trip);
      return kNcclUs + more * steps + data / kNcclBandwidth;
    }
  }
}

double nodes_us(int32_t collective, Algorithm algorithm, double bytes, const Circumstances& world) {
  const LinkCost link = cost_of(std::max<int32_t>(world.slowest_link, SPARKGAP_LINK_TCP), world);
  const double nodes = world.nodes;
  const double near = std::max(1.0, world.pes / nodes);
  // Two steps among the PEs of a node, each of whom does its part.
  const double step = world.oversubscribed ? kSwitchUs * 2 : kFlagUs * std::log2(std::max(2.0, near)) + kFlagUs;
  const double inside = near > 1 ? 2 * step + microseconds(3 * bytes, kCacheGbPerS) : 0;
  const bool blocks = collective == SPARKGAP_ALL_GATHER || collective == SPARKGAP_REDUCE_SCATTER;
  switch (algorithm) {
    case Algorithm::kOneTrip:
      return link.us + (world.pes - near - 1) * kSendUs +
             microseconds(bytes * (world.pes - near) * near, link.gb_per_s);
    case Algorithm::kScattered:
      return 2 * link.us + inside + microseconds(2 * (nodes - 1) / nodes * bytes, link.gb_per_s);
    case Algorithm::kRails:
      return link.us + inside + microseconds(bytes * (nodes - 1) * (blocks ? near : 1), link.gb_per_s);
    default:
      return link.us + microseconds(bytes * (world.pes - near) * near, link.gb_per_s);
  }
}

}  // namespace

double estimate_us(int32_t collective, Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances) {
  const double size = static_cast<double>(bytes);
  switch (circumstances.provider) {
    case ProviderKind::kHost:
      return host_us(collective, algorithm, size, circumstances);
    case ProviderKind::kNodes:
      return nodes_us(collective, algorithm, size, circumstances);
    default:
      return gpu_us(collective, algorithm, size, circumstances);
  }
}

}  // namespace sparkgap
