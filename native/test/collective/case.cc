#include "collective/case.h"

#include <algorithm>
#include <cstring>

#include "description/types.h"
#include "support/calls.h"
#include "support/check.h"
#include "support/make_call.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

// Above this, PEs that must all have the same result check a part each, and the hashes the rest.
constexpr uint64_t kWholeCheck = 4096;

// What each node's PEs have in their order, then what the nodes have in theirs.
void reduce_by_nodes(void* out, const std::vector<const void*>& ins, const std::vector<int>& nodes, uint64_t count,
                     int32_t type, int32_t op) {
  const int32_t inner = op == SPARKGAP_AVG ? static_cast<int32_t>(SPARKGAP_SUM) : op;
  std::vector<std::vector<char>> parts;
  std::vector<const void*> of_nodes;
  size_t first = 0;
  for (const int pes : nodes) {
    parts.emplace_back(count * bytes_of(type));
    const std::vector<const void*> own(ins.begin() + first, ins.begin() + first + pes);
    if (pes == 1) {
      // Nothing is done to it, not even to a NaN.
      std::copy_n(static_cast<const char*>(own[0]), parts.back().size(), parts.back().begin());
    } else {
      reference_reduce(parts.back().data(), own, count, type, inner);
    }
    first += pes;
  }
  for (const std::vector<char>& part : parts) of_nodes.push_back(part.data());
  // Only the division is by more: -0 adds nothing to whatever there is.
  std::vector<char> nothing(count * bytes_of(type));
  if (type <= SPARKGAP_BFLOAT16) {
    for (uint64_t i = 1; i <= count; ++i) nothing[i * bytes_of(type) - 1] = static_cast<char>(0x80);
  }
  while (op == SPARKGAP_AVG && of_nodes.size() < ins.size()) of_nodes.push_back(nothing.data());
  reference_reduce(out, of_nodes, count, type, op);
}

}  // namespace

std::string describe(const Case& c) {
  constexpr const char* kMemoryNames[kMemories] = {"private", "symmetric", "private with symmetric in",
                                                   "private with symmetric out"};
  std::string text = std::string(c.algorithm) + " " + kCollectives[c.collective].name + " of " +
                     std::to_string(c.count) + " " + type_name(c.type);
  if (kCollectives[c.collective].has_op) text += std::string(" ") + op_name(c.op);
  if (kCollectives[c.collective].has_root) text += ", root " + std::to_string(c.root);
  text += c.in_place ? ", in place" : "";
  text += std::string(", ") + kMemoryNames[static_cast<int>(c.memory)] + " memory";
  return text + ", shift " + std::to_string(c.shift) + ", salt " + std::to_string(c.salt);
}

uint64_t array_bytes(const Case& c, int pes) {
  return std::max(in_count(c.collective, c.count, pes), out_count(c.collective, c.count, pes)) * bytes_of(c.type);
}

CaseRunner::CaseRunner(const Pe& pe, const Inputs& inputs, uint64_t array_bytes)
    : pe_(pe),
      inputs_(inputs),
      capacity_(array_bytes + kSlack),
      private_in_(capacity_),
      private_out_(capacity_),
      symmetric_in_(static_cast<char*>(sparkgap_buffer_address(pe.allocate(capacity_)))),
      symmetric_out_(static_cast<char*>(sparkgap_buffer_address(pe.allocate(capacity_)))) {}

CaseRunner::Arrays CaseRunner::arrays_of(const Case& c) const {
  const bool in_is_symmetric = c.memory == Memory::kSymmetric || c.memory == Memory::kSymmetricIn;
  const bool out_is_symmetric = c.memory == Memory::kSymmetric || c.memory == Memory::kSymmetricOut;
  // Another alignment on each PE, which must not show in the bits.
  const uint64_t shift = c.shift * (pe_.pe() + 1) % (kLargestShift + 1) * bytes_of(c.type);
  char* in = (in_is_symmetric ? symmetric_in_ : const_cast<char*>(private_in_.data())) + shift;
  char* out = (out_is_symmetric ? symmetric_out_ : const_cast<char*>(private_out_.data())) + shift;
  if (!c.in_place) return {in, out};
  const InPlaceOffsets offsets = in_place_offsets(c.collective, c.count, pe_.pe());
  return {in + offsets.in * bytes_of(c.type), in + offsets.out * bytes_of(c.type)};
}

uint64_t CaseRunner::run(const Case& c) {
  expect(array_bytes(c, pe_.pes()) + kSlack <= capacity_, "the test's arrays are too small for %s",
         describe(c).c_str());
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t ins = in_count(c.collective, c.count, pe_.pes());
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes());
  const Collective& what = kCollectives[c.collective];
  const bool reads = !what.in.root_only || pe_.pe() == c.root;
  const bool writes = !what.out.root_only || pe_.pe() == c.root;

  std::memset(arrays.out, kMark, outs * bytes + kGuard);
  if (reads) {
    if (arrays.in >= arrays.out + outs * bytes || arrays.in < arrays.out) {
      std::memset(arrays.in + ins * bytes, kMark, kGuard);
    }
    inputs_.fill(arrays.in, c.type, pe_.pe(), 0, ins, c.salt);
    original_.assign(arrays.in, arrays.in + ins * bytes);
  }

  pe_.ok(sparkgap_world_set_algorithm(pe_.world(), c.collective, c.algorithm), describe(c).c_str());
  call(c, arrays);

  if (writes) {
    check_result(c, arrays.out);
  } else if (!c.in_place) {
    expect(std::count(arrays.out, arrays.out + outs * bytes, kMark) == static_cast<ptrdiff_t>(outs * bytes),
           "%s wrote to a PE that is not the root", describe(c).c_str());
  }
  if (reads && !c.in_place) {
    expect(same_bytes(arrays.in, original_.data(), ins * bytes), "%s changed its input", describe(c).c_str());
  }
  // In place a reduceScatter's output is followed by the other blocks of its input, which it may use as it likes.
  if (!(c.in_place && what.in_place == InPlace::kOutIsBlockOfIn)) {
    const char* guard = arrays.out + outs * bytes;
    expect(std::count(guard, guard + kGuard, kMark) == static_cast<ptrdiff_t>(kGuard), "%s wrote behind its output",
           describe(c).c_str());
  }
  return what.same_result ? hash(arrays.out, outs * bytes) : 0;
}

void CaseRunner::call(const Case& c, const Arrays& arrays) {
  const Collective& what = kCollectives[c.collective];
  // Where an array is not used, NULL is allowed.
  const bool omit = !c.in_place && pe_.pe() != c.root && c.salt % 2 == 0;
  CollectiveCall call =
      sparkgap::make_call(c.collective, omit && what.in.root_only ? nullptr : arrays.in,
                          omit && what.out.root_only ? nullptr : arrays.out, c.count, c.type, c.op, c.root);
  const Exchange exchange = {c.count, c.salt};
  std::vector<uint64_t> counts;
  std::vector<uint64_t> offsets;
  for (int peer = 0; what.has_tables() && peer < pe_.pes(); ++peer) {
    counts.push_back(exchange.count(pe_.pe(), peer));
    offsets.push_back(exchange.offset(pe_.pe(), peer));
  }
  call.send_counts = call.receive_counts = counts.data();
  call.send_offsets = call.receive_offsets = offsets.data();
  pe_.ok(make_call(pe_.world(), call), describe(c).c_str());
}

void CaseRunner::check_result(const Case& c, const char* out) const {
  const uint64_t pe = pe_.pe();
  const uint64_t pes = pe_.pes();
  for (Run run : runs_of(c.collective, c.count, c.root, c.salt, pe_.pe(), pe_.pes())) {
    if (run.from_pe != kAllPes) {
      check_copied(c, out, run);
      continue;
    }
    if (c.collective == SPARKGAP_ALL_REDUCE && c.count > kWholeCheck) {
      const uint64_t begin = run.count * pe / pes;
      run = {run.at + begin, run.first + begin, run.count * (pe + 1) / pes - begin, kAllPes};
    }
    check_reduced(c, out, run);
  }
  if (kCollectives[c.collective].has_tables() && !c.in_place) check_gaps(c, out);
}

void CaseRunner::check_reduced(const Case& c, const char* out, const Run& run) const {
  const uint64_t bytes = bytes_of(c.type);
  const char* got = out + run.at * bytes;
  std::vector<char> inputs(run.count * bytes * pe_.pes());
  std::vector<const void*> ins;
  for (int pe = 0; pe < pe_.pes(); ++pe) {
    char* in = inputs.data() + pe * run.count * bytes;
    inputs_.fill(in, c.type, pe, run.first, run.count, c.salt);
    ins.push_back(in);
  }
  std::vector<char> expected(run.count * bytes);
  if (pe_.nodes().size() > 1) {
    reduce_by_nodes(expected.data(), ins, pe_.nodes(), run.count, c.type, c.op);
  } else {
    reference_reduce(expected.data(), ins, run.count, c.type, c.op);
  }
  const uint64_t wrong = first_difference(got, expected.data(), run.count, c.type);
  if (wrong == run.count) return;
  std::string elements;
  for (const void* in : ins) elements += " " + show_element(in, wrong, c.type);
  expect(false, "%s: element %zu is %s, not %s; the PEs' are%s", describe(c).c_str(), run.first + wrong,
         show_element(got, wrong, c.type).c_str(), show_element(expected.data(), wrong, c.type).c_str(),
         elements.c_str());
}

void CaseRunner::check_copied(const Case& c, const char* out, const Run& run) const {
  const uint64_t bytes = bytes_of(c.type);
  std::vector<char> expected(run.count * bytes);
  inputs_.fill(expected.data(), c.type, run.from_pe, run.first, run.count, c.salt);
  const char* got = out + run.at * bytes;
  if (same_bytes(got, expected.data(), run.count * bytes)) return;
  uint64_t wrong = 0;
  while (std::memcmp(got + wrong * bytes, expected.data() + wrong * bytes, bytes) == 0) ++wrong;
  expect(false, "%s: element %zu is %s, not %s, which is element %zu of PE %d", describe(c).c_str(), run.at + wrong,
         show_element(got, wrong, c.type).c_str(), show_element(expected.data(), wrong, c.type).c_str(),
         run.first + wrong, run.from_pe);
}

// Those in front of the blocks of an allToAllv are nobody's.
void CaseRunner::check_gaps(const Case& c, const char* out) const {
  const Exchange exchange = {c.count, c.salt};
  const uint64_t bytes = bytes_of(c.type);
  for (int from = 0; from < pe_.pes(); ++from) {
    const char* gap = out + (exchange.offset(pe_.pe(), from) - 1) * bytes;
    expect(std::count(gap, gap + bytes, kMark) == static_cast<ptrdiff_t>(bytes),
           "%s wrote in front of the block of PE %d", describe(c).c_str(), from);
  }
}

}  // namespace sparkgap::test
