#include <algorithm>
#include <cstring>

#include "description/types.h"
#include "gpu/kernel_case.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

// Of longer runs each PE computes parts, and the hashes tell that the others have the same.
constexpr uint64_t kWholeCheck = 16384;

}  // namespace

std::string describe(const KernelCase& c) {
  std::string text = std::string(algorithm_name(c.algorithm)) + " " + kCollectives[c.collective].name + " of " +
                     std::to_string(c.count) + " " + type_name(c.type);
  if (kCollectives[c.collective].has_op) text += std::string(" ") + op_name(c.op);
  if (kCollectives[c.collective].has_root) text += ", root " + std::to_string(c.root);
  text += c.in_place ? ", in place" : "";
  text += c.symmetric ? (c.shift_apart ? ", symmetric at different places" : ", symmetric") : "";
  if (c.shape.blocks > 0) text += ", on " + std::to_string(c.shape.blocks) + " blocks";
  return text + ", shift " + std::to_string(c.shift) + ", salt " + std::to_string(c.salt);
}

KernelRunner::KernelRunner(GpuPe& pe, const Inputs& inputs, uint64_t array_bytes)
    : pe_(pe),
      inputs_(inputs),
      capacity_(array_bytes + kSlack),
      in_(pe.allocate(capacity_)),
      out_(pe.allocate(capacity_)) {}

KernelRunner::Arrays KernelRunner::arrays_of(const KernelCase& c) const {
  const uint64_t steps = c.shift_apart ? c.shift * (pe_.pe() + 1) % (kLargestShift + 1) : c.shift;
  const uint64_t shift = steps * bytes_of(c.type);
  if (!c.in_place) return {in_.own() + shift, out_.own() + shift, shift};
  const InPlaceOffsets offsets = in_place_offsets(c.collective, c.count, pe_.pe());
  uint8_t* both = out_.own() + shift;
  return {both + offsets.in * bytes_of(c.type), both + offsets.out * bytes_of(c.type), shift};
}

void KernelRunner::enqueue(const KernelCase& c) {
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t ins = in_count(c.collective, c.count, pe_.pes()) * bytes;
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes()) * bytes;
  expect(std::max(ins, outs) + kSlack <= capacity_, "the test's arrays are too small for %s", describe(c).c_str());
  cuda_ok(cudaMemsetAsync(arrays.out, kMark, outs + kGuard, pe_.stream), "cudaMemsetAsync");
  if (is_used(kCollectives[c.collective].in, pe_.pe(), c.root)) {
    // Not before the copy of the last case has read it.
    pe_.synchronize();
    host_in_.resize(ins);
    inputs_.fill(host_in_.data(), c.type, pe_.pe(), 0, ins / bytes, c.salt);
    cuda_ok(cudaMemcpyAsync(arrays.in, host_in_.data(), ins, cudaMemcpyHostToDevice, pe_.stream), "cudaMemcpyAsync");
  }
  call(c);
}

void KernelRunner::call(const KernelCase& c) {
  const Arrays arrays = arrays_of(c);
  const Collective& what = kCollectives[c.collective];
  kernels::KernelCall call = {};
  static_cast<CollectiveCall&>(call) = make_call(c.collective, arrays.in, arrays.out, c.count, c.type, c.op, c.root);
  call.algorithm = c.algorithm;
  call.shape = c.shape;
  if (c.symmetric && !(c.in_place && what.in_place == InPlace::kOutIsBlockOfIn)) {
    call.place = uint64_t{1} << 40 | arrays.offset;
    for (int pe = 0; pe < pe_.pes(); ++pe) call.peer_out[pe] = out_.parts[pe] + arrays.offset;
  }
  uint64_t counts[kernels::kMaxPes];
  uint64_t offsets[kernels::kMaxPes];
  if (what.has_tables()) {
    const Exchange exchange = {c.count, c.salt};
    for (int pe = 0; pe < pe_.pes(); ++pe) {
      counts[pe] = exchange.count(pe_.pe(), pe);
      offsets[pe] = exchange.offset(pe_.pe(), pe);
    }
    call.send_counts = call.receive_counts = counts;
    call.send_offsets = call.receive_offsets = offsets;
  }
  pe_.launch(call);
}

void KernelRunner::check_run(const KernelCase& c, const Run& run) {
  if (run.count == 0) return;
  const uint64_t bytes = bytes_of(c.type);
  std::vector<std::vector<char>> inputs;
  std::vector<const void*> tables;
  for (int pe = 0; pe < pe_.pes(); ++pe) {
    if (run.from_pe != kAllPes && pe != run.from_pe) continue;
    inputs.emplace_back(run.count * bytes);
    inputs_.fill(inputs.back().data(), c.type, pe, run.first, run.count, c.salt);
  }
  for (const auto& input : inputs) tables.push_back(input.data());
  std::vector<char> expected(run.count * bytes);
  if (run.from_pe != kAllPes) {
    expected = inputs[0];
  } else {
    reference_reduce(expected.data(), tables, run.count, c.type, c.op);
  }
  const char* result = host_out_.data() + run.at * bytes;
  const uint64_t wrong = first_difference(result, expected.data(), run.count, c.type);
  expect(wrong == run.count, "%s: element %lu is %s, but must be %s", describe(c).c_str(), run.at + wrong,
         show_element(result, std::min(wrong, run.count - 1), c.type).c_str(),
         show_element(expected.data(), std::min(wrong, run.count - 1), c.type).c_str());
}

uint64_t KernelRunner::check(const KernelCase& c) {
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes()) * bytes;
  const Collective& what = kCollectives[c.collective];
  const bool writes = !what.out.root_only || pe_.pe() == c.root;
  host_out_.resize(outs + kGuard);
  cuda_ok(cudaMemcpyAsync(host_out_.data(), arrays.out, outs + kGuard, cudaMemcpyDeviceToHost, pe_.stream),
          "cudaMemcpyAsync");
  pe_.synchronize();
  pe_.expect_no_failure(describe(c).c_str());

  const bool others_follow = c.in_place && what.in_place == InPlace::kOutIsBlockOfIn;
  if (!others_follow) {
    expect(std::count(host_out_.begin() + outs, host_out_.end(), kMark) == static_cast<ptrdiff_t>(kGuard),
           "%s wrote behind its output", describe(c).c_str());
  }
  if (!writes && !c.in_place) {
    expect(std::count(host_out_.begin(), host_out_.end(), kMark) == static_cast<ptrdiff_t>(outs + kGuard),
           "%s wrote to a PE that is not the root", describe(c).c_str());
  }
  if (!writes || outs == 0) return 0;

  for (const Run& run : runs_of(c.collective, c.count, c.root, c.salt, pe_.pe(), pe_.pes())) {
    if (run.count <= kWholeCheck || run.from_pe != kAllPes) {
      check_run(c, run);
      continue;
    }
    // The ends, and a part in the middle that is another on each PE.
    constexpr uint64_t kPart = kWholeCheck / 4;
    const uint64_t middle = (run.count - kPart) / (pe_.pes() + 1) * (pe_.pe() + 1);
    for (const uint64_t from : {uint64_t{0}, middle, run.count - kPart}) {
      check_run(c, {run.at + from, run.first + from, kPart, kAllPes});
    }
  }
  return c.collective == SPARKGAP_ALL_REDUCE ? hash(host_out_.data(), outs) : 0;
}

}  // namespace sparkgap::test
