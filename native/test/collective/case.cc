#include "collective/case.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "support/calls.h"
#include "support/check.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kGuard = 64;
constexpr uint64_t kLargestShift = 3;
constexpr uint64_t kSlack = kLargestShift * 8 + kGuard;
constexpr char kMark = 0x5a;
// Above this, PEs that must all have the same result check a part each, and the hashes the rest.
constexpr uint64_t kWholeCheck = 4096;

bool same_everywhere(int32_t collective) {
  return collective == SPARKGAP_ALL_REDUCE || collective == SPARKGAP_ALL_GATHER || collective == SPARKGAP_BROADCAST;
}

}  // namespace

std::string describe(const Case& c) {
  constexpr const char* kMemoryNames[kMemories] = {"private", "symmetric", "private with symmetric in",
                                                   "private with symmetric out"};
  std::string text = std::string(c.algorithm) + " " + collective_name(c.collective) + " of " + std::to_string(c.count) +
                     " " + type_name(c.type);
  if (reduces(c.collective)) text += std::string(" ") + op_name(c.op);
  if (has_root(c.collective)) text += ", root " + std::to_string(c.root);
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
  const uint64_t own_block = pe_.pe() * c.count * bytes_of(c.type);
  if (c.collective == SPARKGAP_REDUCE_SCATTER) return {in, in + own_block};
  if (c.collective == SPARKGAP_ALL_GATHER) return {in + own_block, in};
  return {in, in};
}

uint64_t CaseRunner::run(const Case& c) {
  expect(array_bytes(c, pe_.pes()) + kSlack <= capacity_, "the test's arrays are too small for %s",
         describe(c).c_str());
  const Arrays arrays = arrays_of(c);
  const uint64_t bytes = bytes_of(c.type);
  const uint64_t ins = in_count(c.collective, c.count, pe_.pes());
  const uint64_t outs = out_count(c.collective, c.count, pe_.pes());
  const bool reads = c.collective != SPARKGAP_BROADCAST || pe_.pe() == c.root;
  const bool writes = c.collective != SPARKGAP_REDUCE || pe_.pe() == c.root;

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
    expect(std::memcmp(arrays.in, original_.data(), ins * bytes) == 0, "%s changed its input", describe(c).c_str());
  }
  // In place a reduceScatter's output is followed by the other blocks of its input, which it may use as it likes.
  if (!(c.in_place && c.collective == SPARKGAP_REDUCE_SCATTER)) {
    const char* guard = arrays.out + outs * bytes;
    expect(std::count(guard, guard + kGuard, kMark) == static_cast<ptrdiff_t>(kGuard), "%s wrote behind its output",
           describe(c).c_str());
  }
  return same_everywhere(c.collective) ? hash(arrays.out, outs * bytes) : 0;
}

void CaseRunner::call(const Case& c, const Arrays& arrays) {
  sparkgap_world* world = pe_.world();
  const bool is_root = pe_.pe() == c.root;
  // Where an array is not used, NULL is allowed.
  const bool omit = !c.in_place && !is_root && c.salt % 2 == 0;
  sparkgap_status status = SPARKGAP_OK;
  switch (c.collective) {
    case SPARKGAP_ALL_REDUCE:
      status = sparkgap_all_reduce(world, arrays.in, arrays.out, c.count, c.type, c.op);
      break;
    case SPARKGAP_REDUCE_SCATTER:
      status = sparkgap_reduce_scatter(world, arrays.in, arrays.out, c.count, c.type, c.op);
      break;
    case SPARKGAP_ALL_GATHER:
      status = sparkgap_all_gather(world, arrays.in, arrays.out, c.count, c.type);
      break;
    case SPARKGAP_BROADCAST:
      status = sparkgap_broadcast(world, omit ? nullptr : arrays.in, arrays.out, c.count, c.type, c.root);
      break;
    case SPARKGAP_REDUCE:
      status = sparkgap_reduce(world, arrays.in, omit ? nullptr : arrays.out, c.count, c.type, c.op, c.root);
      break;
    case SPARKGAP_ALL_TO_ALL:
      status = sparkgap_all_to_all(world, arrays.in, arrays.out, c.count, c.type);
      break;
    case SPARKGAP_ALL_TO_ALLV:
      return call_all_to_allv(c, arrays);
    default:
      status = sparkgap_barrier(world);
  }
  pe_.ok(status, describe(c).c_str());
}

void CaseRunner::call_all_to_allv(const Case& c, const Arrays& arrays) {
  const Exchange exchange = {c.count, c.salt};
  std::vector<uint64_t> counts(pe_.pes());
  std::vector<uint64_t> offsets(pe_.pes());
  for (int peer = 0; peer < pe_.pes(); ++peer) {
    counts[peer] = exchange.count(pe_.pe(), peer);
    offsets[peer] = exchange.offset(pe_.pe(), peer);
  }
  pe_.ok(sparkgap_all_to_allv(pe_.world(), arrays.in, counts.data(), offsets.data(), arrays.out, counts.data(),
                              offsets.data(), c.type),
         describe(c).c_str());
}

void CaseRunner::check_result(const Case& c, const char* out) const {
  const int pe = pe_.pe();
  const int pes = pe_.pes();
  switch (c.collective) {
    case SPARKGAP_ALL_REDUCE: {
      const bool whole = c.count <= kWholeCheck;
      const uint64_t first = whole ? 0 : c.count * pe / pes;
      const uint64_t end = whole ? c.count : c.count * (pe + 1) / pes;
      return check_reduced(c, out + first * bytes_of(c.type), first, end - first);
    }
    case SPARKGAP_REDUCE_SCATTER:
      return check_reduced(c, out, pe * c.count, c.count);
    case SPARKGAP_REDUCE:
      return check_reduced(c, out, 0, c.count);
    case SPARKGAP_BROADCAST:
      return check_copied(c, out, c.root, 0, c.count, 0);
    case SPARKGAP_ALL_GATHER:
      for (int from = 0; from < pes; ++from) check_copied(c, out, from, 0, c.count, from * c.count);
      return;
    case SPARKGAP_ALL_TO_ALL:
      for (int from = 0; from < pes; ++from) check_copied(c, out, from, pe * c.count, c.count, from * c.count);
      return;
    case SPARKGAP_ALL_TO_ALLV:
      return check_all_to_allv(c, out);
    default:
      return;
  }
}

// `out` holds the reduction of elements first..first+count-1 of all PEs.
void CaseRunner::check_reduced(const Case& c, const char* out, uint64_t first, uint64_t count) const {
  const uint64_t bytes = bytes_of(c.type);
  std::vector<char> inputs(count * bytes * pe_.pes());
  std::vector<const void*> ins;
  for (int pe = 0; pe < pe_.pes(); ++pe) {
    char* in = inputs.data() + pe * count * bytes;
    inputs_.fill(in, c.type, pe, first, count, c.salt);
    ins.push_back(in);
  }
  std::vector<char> expected(count * bytes);
  reference_reduce(expected.data(), ins, count, c.type, c.op);
  const uint64_t wrong = first_difference(out, expected.data(), count, c.type);
  if (wrong == count) return;
  std::string elements;
  for (const void* in : ins) elements += " " + show_element(in, wrong, c.type);
  expect(false, "%s: element %zu is %s, not %s; the PEs' are%s", describe(c).c_str(), first + wrong,
         show_element(out, wrong, c.type).c_str(), show_element(expected.data(), wrong, c.type).c_str(),
         elements.c_str());
}

// Elements at..at+count-1 of `out` are elements first..first+count-1 of what from_pe put in.
void CaseRunner::check_copied(const Case& c, const char* out, int from_pe, uint64_t first, uint64_t count,
                              uint64_t at) const {
  const uint64_t bytes = bytes_of(c.type);
  std::vector<char> expected(count * bytes);
  inputs_.fill(expected.data(), c.type, from_pe, first, count, c.salt);
  const char* got = out + at * bytes;
  if (std::memcmp(got, expected.data(), count * bytes) == 0) return;
  uint64_t wrong = 0;
  while (std::memcmp(got + wrong * bytes, expected.data() + wrong * bytes, bytes) == 0) ++wrong;
  expect(false, "%s: element %zu is %s, not %s, which is element %zu of PE %d", describe(c).c_str(), at + wrong,
         show_element(got, wrong, c.type).c_str(), show_element(expected.data(), wrong, c.type).c_str(), first + wrong,
         from_pe);
}

void CaseRunner::check_all_to_allv(const Case& c, const char* out) const {
  const Exchange exchange = {c.count, c.salt};
  const int pe = pe_.pe();
  for (int from = 0; from < pe_.pes(); ++from) {
    const uint64_t at = exchange.offset(pe, from);
    check_copied(c, out, from, exchange.offset(from, pe), exchange.count(from, pe), at);
    if (c.in_place) continue;
    // The gap in front of the block is nobody's.
    const char* gap = out + (at - 1) * bytes_of(c.type);
    expect(std::count(gap, gap + bytes_of(c.type), kMark) == static_cast<ptrdiff_t>(bytes_of(c.type)),
           "%s wrote in front of the block of PE %d", describe(c).c_str(), from);
  }
}

}  // namespace sparkgap::test
