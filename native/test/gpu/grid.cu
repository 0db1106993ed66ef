// Every collective with every type, operation, place and alignment, at counts around every threshold.
#include <algorithm>
#include <set>

#include "gpu/kernel_case.h"
#include "gpu/tests.h"
#include "protocol/scratch.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

// What a case is launched with: as the tables say, and otherwise, so that threads have several words, warps several
// batches of lines, lanes many chunks, and senders are warps as well as bulk copies.
std::vector<kernels::Shape> shapes_for(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kPackets:
      return {{}, {2, 64, 0, 0, 0}};
    case Algorithm::kLines:
      return {{}, {3, 96, 0, 0, 0}};
    case Algorithm::kOneShot:
    case Algorithm::kChunked:
      return {{}, {3, 512, 4096, 0, 7}, {5, 512, 1024, 5, 2}};
    default:
      return {{}};
  }
}

// Counts of elements of `size` bytes: small ones, and those just around where a kernel begins another packet, line,
// turn, lane, chunk or step.
std::vector<uint64_t> counts_for(const GpuPe& pe, Algorithm algorithm, uint64_t size) {
  const uint64_t lanes = pe.world.lanes;
  const uint64_t pes = pe.pes();
  const uint64_t slot = kernels::slot_bytes(pes);
  std::vector<uint64_t> bytes = {8, 16, 120, 480, 512, 4096};
  uint64_t most = ~0ull;
  if (algorithm == Algorithm::kPackets) {
    most = kernels::kPacketBytes / kernels::others(pes) / size;
    bytes.insert(bytes.end(), {uint64_t{8} << 10, uint64_t{64} << 10});
  } else if (algorithm == Algorithm::kLines) {
    most = kernels::kLineBytes / kernels::others(pes) / size;
    bytes.insert(bytes.end(), {lanes * 512, lanes * 16 * 512, uint64_t{512} << 10});
  } else {
    for (const uint64_t at : {uint64_t{8} << 10, slot / 2, slot, lanes * (uint64_t{8} << 10), uint64_t{512} << 10,
                              lanes * slot, kernels::channel_slot_bytes(pes)}) {
      bytes.push_back(at);
    }
    // The longest blocks of an allToAllv that go in packets.
    if (algorithm == Algorithm::kChunked) bytes.push_back(kernels::kPacketBytes / 2 / kernels::others(pes));
    // Several pieces of each lane for each PE, so that all of a ring are at work at once.
    if (algorithm == Algorithm::kRing) bytes.push_back(lanes * pes * 3 * (uint64_t{8} << 10));
  }
  std::set<uint64_t> counts = {0, 1, 2, 3, 5, 7, 31, 33, 1000};
  for (const uint64_t at : bytes) {
    for (const int64_t off : {-1, 0, 1}) counts.insert(at / size + off);
  }
  if (most != ~0ull) {
    counts.insert({most - 1, most});
    counts.erase(counts.upper_bound(most), counts.end());
  } else {
    counts.insert((1 << 20) + 3);
  }
  return {counts.begin(), counts.end()};
}

// Large counts in float32 SUM and in one other type that changes, the largest in float32 SUM; small ones in all.
bool is_worth_it(const KernelCase& c, uint64_t bytes) {
  constexpr uint64_t kLarge = 64 << 10;
  constexpr uint64_t kLargest = 32 << 20;
  if (bytes <= kLarge || (c.type == SPARKGAP_FLOAT32 && c.op == SPARKGAP_SUM)) return true;
  return bytes <= kLargest && (c.count + c.salt) % 7 == 0;
}

void run_cases(GpuPe& pe, KernelRunner& runner, int collective) {
  uint64_t salt = 0;
  int cases = 0;
  for (const ListedAlgorithm& listed : kKernelAlgorithms) {
    if (listed.collective != collective) continue;
    const Algorithm algorithm = listed.algorithm;
    for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
      for (const uint64_t count : counts_for(pe, algorithm, bytes_of(type))) {
        const int ops = kCollectives[collective].has_op ? SPARKGAP_OPS : 1;
        for (int32_t op = 0; op < ops; ++op) {
          // In place and not; not symmetric, symmetric, and symmetric at other places: in turn, so that each meets
          // each.
          for (int way = 0; way < 3; ++way) {
            KernelCase c;
            c.collective = collective;
            c.algorithm = algorithm;
            c.type = type;
            c.op = op;
            c.count = count;
            c.salt = ++salt;
            c.root = static_cast<int32_t>(salt % pe.pes());
            c.in_place = (salt / 3 + way) % 2 == 0;
            c.symmetric = way > 0;
            c.shift_apart = way == 2;
            c.shift = static_cast<int>(salt / 5 % 4);
            const std::vector<kernels::Shape> shapes = shapes_for(algorithm);
            c.shape = shapes[salt / 2 % shapes.size()];
            if (!is_worth_it(c, count * bytes_of(type))) continue;
            runner.enqueue(c);
            const uint64_t hash = runner.check(c);
            ++cases;
            if (count * bytes_of(type) < (64 << 10)) continue;
            for (const uint64_t other : pe.exchange(hash)) {
              expect(other == hash, "%s: PEs have different bits", describe(c).c_str());
            }
          }
        }
        if (collective == SPARKGAP_BARRIER) return;
      }
    }
  }
  if (pe.pe() == 0) std::printf("     %d cases\n", cases);
}

}  // namespace

void run_grid(int pes, int collective) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 300, [&](GpuPe& pe) {
    // The longest counts are those of lanes * slot bytes and of lines, of which allToAll has one for each PE.
    const uint64_t most = std::max<uint64_t>(kernels::kMaxLanes * kernels::slot_bytes(pes) + 64, (65 << 20) + 64);
    KernelRunner runner(pe, inputs, most * (pes + 1));
    run_cases(pe, runner, collective);
  });
}

void run_small(int pes) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 300, [&](GpuPe& pe) {
    KernelRunner runner(pe, inputs, 20000 * 4 * (pes + 1));
    KernelCase c;
    c.type = SPARKGAP_FLOAT32;
    for (const ListedAlgorithm& listed : kKernelAlgorithms) {
      for (const kernels::Shape& shape : shapes_for(listed.algorithm)) {
        for (const uint64_t count : {3, 5000, 20000}) {
          const uint64_t most = listed.algorithm == Algorithm::kPackets ? kernels::kPacketBytes : kernels::kLineBytes;
          if (count * 4 * kernels::others(pes) > most && listed.algorithm <= Algorithm::kLines) continue;
          c.collective = listed.collective;
          c.algorithm = listed.algorithm;
          c.shape = shape;
          c.count = count;
          c.in_place = ++c.salt % 2 == 0;
          c.shift = static_cast<int>(c.salt / 2 % 2);
          runner.enqueue(c);
          runner.check(c);
        }
      }
    }
  });
}

}  // namespace sparkgap::test
