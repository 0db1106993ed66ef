// A PE that does not come: every kernel's waits end, and the record says who was waited for.
#include <unistd.h>

#include "gpu/kernel_case.h"
#include "gpu/tests.h"
#include "protocol/scratch.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

constexpr int kAbsent = 0;

KernelCase case_of(const ListedAlgorithm& call) {
  KernelCase c;
  c.collective = call.collective;
  c.algorithm = call.algorithm;
  c.type = SPARKGAP_FLOAT32;
  c.count = 5000;
  return c;
}

// Of chunks a PE that only sends hears nothing but that there is room; whoever takes them ends the call.
bool hears_nothing(const KernelCase& c, int pe) {
  if (c.algorithm != Algorithm::kOneShot) return false;
  const Collective& what = kCollectives[c.collective];
  return (what.in.root_only && pe == c.root) || (what.out.root_only && pe != c.root);
}

void expect_given_up(const GpuPe& pe, const KernelCase& c, kernels::WaitEnd end) {
  if (hears_nothing(c, pe.pe())) return;
  expect(pe.record().end == static_cast<uint32_t>(end), "%s: the wait ended with %u, not %u", describe(c).c_str(),
         pe.record().end, static_cast<uint32_t>(end));
  expect(pe.record().collective == c.collective, "%s: the record names collective %d", describe(c).c_str(),
         pe.record().collective);
  // Whoever waits for several may name one that waits for the absent one.
  const int peer = pe.record().peer;
  expect(peer >= 0 && peer < pe.pes() && peer != pe.pe(), "%s: the record names PE %d", describe(c).c_str(), peer);
  if (pe.pes() == 2) expect(peer == kAbsent, "%s: the record names PE %d", describe(c).c_str(), peer);
  // What was there before it: of the same parity, or in the same slot of a channel.
  const uint64_t ahead = pe.record().expected - pe.record().seen;
  expect(ahead == 2 || ahead == kernels::kChannelSlots || pe.record().seen == 0, "%s: expected %lu, seen %lu",
         describe(c).c_str(), pe.record().expected, pe.record().seen);
}

// Every kernel once for all, then again without kAbsent, and one more behind it, which must end as well.
void run_without_one(int pes, uint64_t deadline_ns, kernels::WaitEnd end) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 120, [&](GpuPe& pe) {
    KernelRunner runner(pe, inputs, 5000 * 4 * (pes + 1));
    for (const ListedAlgorithm& call : kKernelAlgorithms) {
      const KernelCase c = case_of(call);
      pe.reset(kLongDeadlineNs);
      runner.call(c);
      pe.synchronize();
      pe.meet();
      pe.world.deadline_ns = deadline_ns;
      if (pe.pe() != kAbsent) {
        runner.call(c);
        runner.call(c);
      }
      if (end == kernels::WaitEnd::kAborted) {
        usleep(3000);
        pe.raise_abort();
      }
      pe.synchronize();
      if (pe.pe() != kAbsent) expect_given_up(pe, c, end);
      pe.meet();
    }
    // After a reset the world is as good as new.
    pe.reset(kLongDeadlineNs);
    KernelCase c = case_of(kKernelAlgorithms[0]);
    runner.enqueue(c);
    runner.check(c);
  });
}

}  // namespace

void run_deadline(int pes) { run_without_one(pes, 50'000'000, kernels::WaitEnd::kDeadline); }

void run_abort(int pes) { run_without_one(pes, kLongDeadlineNs, kernels::WaitEnd::kAborted); }

// A PE that breaks off in the middle, by making a call with fewer pieces: the waits are those between neighbours.
void run_ring_breaks_off(int pes) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 60, [&](GpuPe& pe) {
    const uint64_t round_bytes = pe.world.lanes * (uint64_t{8} << 10);
    KernelRunner runner(pe, inputs, 6 * round_bytes);
    KernelCase c = case_of({SPARKGAP_ALL_REDUCE, Algorithm::kRing});
    // A whole one first, so that no PE is late because it loads the kernel.
    c.count = 6 * round_bytes / bytes_of(c.type);
    runner.call(c);
    pe.synchronize();
    pe.meet();
    pe.world.deadline_ns = 50'000'000;
    // The others have twice the pieces in each lane, and the first half of the lanes only.
    c.shape = {pe.pe() == kAbsent ? pe.world.lanes : std::max(1, pe.world.lanes / 2), 0, 0, 0, 0};
    runner.call(c);
    pe.synchronize();
    if (pe.pe() != kAbsent) expect_given_up(pe, c, kernels::WaitEnd::kDeadline);
    pe.meet();
  });
}

void run_counts_disagree(int pes) {
  run_gpu_pes(pes, 60, [&](GpuPe& pe) {
    uint8_t* in = pe.allocate(1 << 20).own();
    uint8_t* out = pe.allocate(1 << 20).own();
    uint64_t send[kernels::kMaxPes];
    uint64_t receive[kernels::kMaxPes];
    uint64_t offsets[kernels::kMaxPes];
    for (int i = 0; i < pes; ++i) {
      send[i] = receive[i] = 100;
      offsets[i] = i * 1000;
    }
    if (pe.pe() == 1) receive[0] = 99;
    kernels::KernelCall call = {};
    call.collective = SPARKGAP_ALL_TO_ALLV;
    call.algorithm = Algorithm::kChunked;
    call.type = SPARKGAP_FLOAT32;
    call.in = in;
    call.out = out;
    call.send_counts = send;
    call.receive_counts = receive;
    call.send_offsets = call.receive_offsets = offsets;
    pe.world.deadline_ns = 200'000'000;
    pe.launch(call);
    pe.synchronize();
    if (pe.pe() == 1) {
      expect(pe.record().end == static_cast<uint32_t>(kernels::WaitEnd::kCountsDisagree), "end is %u", pe.record().end);
      expect(pe.record().peer == 0, "the record names PE %d", pe.record().peer);
      expect(pe.record().expected == 396 && pe.record().seen == 400, "expected %lu, seen %lu", pe.record().expected,
             pe.record().seen);
    }
    pe.meet();
  });
}

// Every kernel, called with something else by one of two PEs: neither may believe what the other has sent.
void run_calls_differ(int pes) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 120, [&](GpuPe& pe) {
    KernelRunner runner(pe, inputs, 5000 * 8 * (pes + 1));
    const auto run = [&](const ListedAlgorithm& listed, const char* what, bool at_once, const auto& change) {
      KernelCase c = case_of(listed);
      pe.reset(kLongDeadlineNs);
      runner.call(c);
      pe.synchronize();
      pe.meet();
      // Where the two do not even look at the same memory, the deadline tells.
      pe.world.deadline_ns = at_once ? kLongDeadlineNs : 100'000'000;
      const KernelCase as_listed = c;
      if (pe.pe() == kAbsent) change(c);
      runner.call(c);
      pe.synchronize();
      const auto end = static_cast<kernels::WaitEnd>(pe.record().end);
      const bool right = end == kernels::WaitEnd::kCallsDiffer || (!at_once && end == kernels::WaitEnd::kDeadline) ||
                         (end == kernels::WaitEnd::kNone && hears_nothing(as_listed, pe.pe()));
      expect(right, "%s, %s: the wait ended with %u", describe(c).c_str(), what, pe.record().end);
      pe.meet();
    };
    for (const ListedAlgorithm& listed : kKernelAlgorithms) {
      const Collective& what = kCollectives[listed.collective];
      if (!what.has_type) continue;
      run(listed, "another type", true, [](KernelCase& c) { c.type = SPARKGAP_INT32; });
      if (what.has_count) run(listed, "another count", true, [](KernelCase& c) { c.count -= 100; });
      if (what.has_op) run(listed, "another operation", true, [](KernelCase& c) { c.op = SPARKGAP_MAX; });
      run(listed, "another collective", false, [](KernelCase& c) {
        c.collective = SPARKGAP_BARRIER;
        c.algorithm = Algorithm::kFlags;
      });
    }
    pe.reset(kLongDeadlineNs);
    KernelCase c = case_of(kKernelAlgorithms[0]);
    runner.enqueue(c);
    runner.check(c);
  });
}

}  // namespace sparkgap::test
