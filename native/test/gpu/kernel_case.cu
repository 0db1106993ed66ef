#include <algorithm>
#include <cstring>

#include "gpu/kernel_case.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kGuard = 64;
constexpr uint64_t kLargestShift = 3;
constexpr uint64_t kSlack = kLargestShift * 8 + kGuard;
constexpr char kMark = 0x5a;
// Of longer runs each PE computes parts, and the hashes tell that the others have the same.
constexpr uint64_t kWholeCheck = 16384;

}  // namespace

const char* name_of_algorithm(Algorithm algorithm) {
  return route_name(ProviderKind::kNvshmem, algorithm) + sizeof("nvshmem");
}

std::string describe(const KernelCase& c) {
  std::string text = std::string(name_of_algorithm(c.algorithm)) + " " + collective_name(c.collective) + " of " +
                     std::to_string(c.count) + " " + type_name(c.type);
  if (reduces(c.collective)) text += std::string(" ") + op_name(c.op);
  if (has_root(c.collective)) text += ", root " + std::to_string(c.root);
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
  const uint64_t own_block = pe_.pe() * c.count * bytes_of(c.type);
  if (c.collective == SPARKGAP_REDUCE_SCATTER) return {out_.own() + shift, out_.own() + shift + own_block, shift};
  if (c.collective == SPARKGAP_ALL_GATHER) return {out_.own() + shift + own_block, out_.own() + shift, shift};
  return {out_.own() + shift, out_.own() + shift, shift};
}

void KernelRunner::enqueue(const KernelCase& c) {
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t ins = in_count(c.collective, c.count, pe_.pes()) * bytes;
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes()) * bytes;
  expect(std::max(ins, outs) + kSlack <= capacity_, "the test's arrays are too small for %s", describe(c).c_str());
  cuda_ok(cudaMemsetAsync(arrays.out, kMark, outs + kGuard, pe_.stream), "cudaMemsetAsync");
  if (c.collective != SPARKGAP_BROADCAST || pe_.pe() == c.root) {
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
  kernels::KernelCall call = {};
  call.collective = c.collective;
  call.algorithm = c.algorithm;
  call.type = c.type;
  call.op = c.op;
  call.root = c.root;
  call.count = c.count;
  call.shape = c.shape;
  call.in = arrays.in;
  call.out = arrays.out;
  if (c.symmetric && !(c.in_place && c.collective == SPARKGAP_REDUCE_SCATTER)) {
    call.place = uint64_t{1} << 40 | arrays.offset;
    for (int pe = 0; pe < pe_.pes(); ++pe) call.peer_out[pe] = out_.parts[pe] + arrays.offset;
  }
  uint64_t counts[kernels::kMaxPes];
  uint64_t offsets[kernels::kMaxPes];
  if (c.collective == SPARKGAP_ALL_TO_ALLV) {
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

// Elements first.. of the fold of all PEs' inputs, or of one PE's, are to be at element `at` of the result.
void KernelRunner::check_run(const KernelCase& c, uint64_t at, uint64_t first, uint64_t count, int only_pe) {
  const uint64_t bytes = bytes_of(c.type);
  std::vector<std::vector<char>> inputs;
  std::vector<const void*> tables;
  for (int pe = 0; pe < pe_.pes(); ++pe) {
    if (only_pe >= 0 && pe != only_pe) continue;
    inputs.emplace_back(count * bytes);
    inputs_.fill(inputs.back().data(), c.type, pe, first, count, c.salt);
  }
  for (const auto& input : inputs) tables.push_back(input.data());
  std::vector<char> expected(count * bytes);
  if (only_pe >= 0) {
    expected = inputs[0];
  } else {
    reference_reduce(expected.data(), tables, count, c.type, c.op);
  }
  const char* result = host_out_.data() + at * bytes;
  const uint64_t wrong = first_difference(result, expected.data(), count, c.type);
  expect(wrong == count, "%s: element %lu is %s, but must be %s", describe(c).c_str(), at + wrong,
         show_element(result, std::min(wrong, count - 1), c.type).c_str(),
         show_element(expected.data(), std::min(wrong, count - 1), c.type).c_str());
}

void KernelRunner::check_all_to_allv(const KernelCase& c) {
  const Exchange exchange = {c.count, c.salt};
  for (int from = 0; from < pe_.pes(); ++from) {
    const uint64_t count = exchange.count(from, pe_.pe());
    if (count > 0) check_run(c, exchange.offset(pe_.pe(), from), exchange.offset(from, pe_.pe()), count, from);
  }
}

uint64_t KernelRunner::check(const KernelCase& c) {
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes()) * bytes;
  const bool writes = c.collective != SPARKGAP_REDUCE || pe_.pe() == c.root;
  host_out_.resize(outs + kGuard);
  cuda_ok(cudaMemcpyAsync(host_out_.data(), arrays.out, outs + kGuard, cudaMemcpyDeviceToHost, pe_.stream),
          "cudaMemcpyAsync");
  pe_.synchronize();
  pe_.expect_no_failure(describe(c).c_str());

  const bool others_follow = c.in_place && c.collective == SPARKGAP_REDUCE_SCATTER;
  if (!others_follow) {
    expect(std::count(host_out_.begin() + outs, host_out_.end(), kMark) == static_cast<ptrdiff_t>(kGuard),
           "%s wrote behind its output", describe(c).c_str());
  }
  if (!writes && !c.in_place) {
    expect(std::count(host_out_.begin(), host_out_.end(), kMark) == static_cast<ptrdiff_t>(outs + kGuard),
           "%s wrote to a PE that is not the root", describe(c).c_str());
  }
  if (!writes || outs == 0) return 0;

  // Runs of elements that are checked: whole, or the ends and a part in the middle that is another on each PE.
  const auto check_long = [&](uint64_t at, uint64_t first, uint64_t count, int only_pe) {
    if (count <= kWholeCheck || only_pe >= 0) return check_run(c, at, first, count, only_pe);
    constexpr uint64_t kPart = kWholeCheck / 4;
    const uint64_t middle = (count - kPart) / (pe_.pes() + 1) * (pe_.pe() + 1);
    for (const uint64_t from : {uint64_t{0}, middle, count - kPart})
      check_run(c, at + from, first + from, kPart, only_pe);
  };
  switch (c.collective) {
    case SPARKGAP_ALL_REDUCE:
    case SPARKGAP_REDUCE:
      check_long(0, 0, c.count, -1);
      break;
    case SPARKGAP_REDUCE_SCATTER:
      check_long(0, pe_.pe() * c.count, c.count, -1);
      break;
    case SPARKGAP_ALL_GATHER:
      for (int pe = 0; pe < pe_.pes(); ++pe) check_long(pe * c.count, 0, c.count, pe);
      break;
    case SPARKGAP_BROADCAST:
      check_long(0, 0, c.count, c.root);
      break;
    case SPARKGAP_ALL_TO_ALL:
      for (int pe = 0; pe < pe_.pes(); ++pe) check_long(pe * c.count, pe_.pe() * c.count, c.count, pe);
      break;
    default:
      check_all_to_allv(c);
  }
  return c.collective == SPARKGAP_ALL_REDUCE ? hash(host_out_.data(), outs) : 0;
}

}  // namespace sparkgap::test
