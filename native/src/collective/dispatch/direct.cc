// dispatch and exchangeRows, straight into the buffers of the PEs that the rows go to.
//
//   Step 1 tells counts:  slot: | rows for expert 0 | rows for expert 1 | ... |     of this PE; from all tables
//   together each PE knows where in an expert's room its rows begin, behind those of the PEs before it, and whether
//   they fit, which all PEs find out alike. Then each row is copied to its place, and step 2 says that all have come.
//
// A PE that comes to step 1 has done with what it received before, so that it can be overwritten.
#include <cstring>

#include "collective/chunks.h"
#include "collective/host_rows.h"

namespace sparkgap {
namespace {

constexpr uint32_t kMostExperts = SPARKGAP_MOST_EXPERTS;

void count_rows(const RowsCall& call, uint32_t* counts) {
  std::memset(counts, 0, static_cast<size_t>(call.plan.experts) * sizeof *counts);
  const uint64_t entries = call.rows * static_cast<uint64_t>(call.plan.top);
  for (uint64_t i = 0; i < entries; ++i) {
    if (call.indices[i] >= 0) ++counts[call.indices[i]];
  }
}

[[noreturn]] void refuse_overflow(const HostNode& node, const RowsCall& call, int32_t expert, uint64_t rows) {
  const int32_t pe = call.plan.owner(expert);
  char name[32] = "";
  if (call.plan.to_experts) Text(name, sizeof name).add("expert %d on ", expert);
  fail(SPARKGAP_INVALID_ARGUMENT, pe,
       "%sPE %d (%s) would get %llu rows from all PEs together, and the shape's `capacity` is %llu: make it with more, "
       "or send fewer (index -1 sends none)",
       name, pe, node.node().label(pe).c_str(), static_cast<unsigned long long>(rows),
       static_cast<unsigned long long>(call.plan.capacity));
}

// Exchanges `counts`, which become where this PE's rows begin in each expert's room. `totals`: rows that each gets.
void find_room(HostNode& node, const RowsCall& call, uint32_t* counts, uint32_t* totals) {
  Steps& steps = node.steps();
  const int32_t experts = call.plan.experts;
  steps.begin();
  std::memcpy(steps.slot(node.pe()), counts, static_cast<size_t>(experts) * sizeof *counts);
  steps.post();
  steps.wait_for_all();
  for (int32_t expert = 0; expert < experts; ++expert) {
    uint64_t before = 0;
    uint64_t all = 0;
    for (int32_t pe = 0; pe < node.pes(); ++pe) {
      if (pe == node.pe()) before = all;
      all += pe == node.pe() ? counts[expert] : reinterpret_cast<const uint32_t*>(steps.slot(pe))[expert];
    }
    if (all > call.plan.capacity) refuse_overflow(node, call, expert, all);
    counts[expert] = static_cast<uint32_t>(before);
    totals[expert] = static_cast<uint32_t>(all);
  }
}

// `next`: where the next row goes in each expert's room.
void send_rows(const HostNode& node, const RowsCall& call, uint32_t* next) {
  const RowsPlan& plan = call.plan;
  auto* const places = in_part<RowPlace>(call, node.pe(), plan.places_at);
  const auto top = static_cast<uint64_t>(plan.top);
  for (uint64_t i = 0; i < call.rows * top; ++i) {
    const int32_t expert = call.indices[i];
    RowPlace place = {-1, 0};
    if (expert >= 0) {
      place.pe = plan.owner(expert);
      const auto room = static_cast<uint64_t>(expert - plan.first_expert(place.pe));
      const uint64_t row = room * plan.capacity + next[expert]++;
      place.row = static_cast<uint32_t>(row);
      std::memcpy(in_part<uint8_t>(call, place.pe, plan.received_at) + row * plan.row_bytes,
                  advance(call.in, i / top * plan.row_bytes), plan.row_bytes);
      if (call.weights != nullptr) in_part<float>(call, place.pe, plan.weights_at)[row] = call.weights[i];
    }
    if (plan.to_experts) places[i] = place;
  }
}

}  // namespace

void dispatch_direct(HostNode& node, const RowsCall& call) {
  const RowsPlan& plan = call.plan;
  uint32_t next[kMostExperts];
  uint32_t totals[kMostExperts];
  count_rows(call, next);
  find_room(node, call, next, totals);
  const int32_t first = plan.first_expert(node.pe());
  const int32_t local = plan.first_expert(node.pe() + 1) - first;
  std::memcpy(in_part<uint32_t>(call, node.pe(), plan.counts_at), totals + first,
              static_cast<size_t>(local) * sizeof *totals);
  if (plan.to_experts) in_part<RowsHead>(call, node.pe(), 0)->dispatched = call.rows;
  send_rows(node, call, next);
  node.steps().meet();
}

}  // namespace sparkgap
