#include "select/table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/digest.h"
#include "base/version.h"
#include "description/collective.h"
#include "description/links.h"

namespace sparkgap {
namespace {

constexpr size_t kMostNameBytes = 63;
constexpr int32_t kMostTimes = 64;  // of a route

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

uint64_t digest_of(const TuningTable& table) {
  Digest digest;
  for (const std::string* text : {&table.name, &table.provider, &table.device, &table.nvshmem, &table.nccl}) {
    digest.add(*text);
  }
  for (const int32_t number : {table.link, table.pes[0], table.pes[1], table.nodes[0], table.nodes[1], table.lanes[0],
                               table.lanes[1], static_cast<int32_t>(table.shared)}) {
    digest.add(number);
  }
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    digest.add(table.rows[collective].size());
    for (const TableRow& row : table.rows[collective]) {
      digest.add(row.bytes);
      digest.add(row.algorithm);
      for (const int32_t number : {row.shape.blocks, row.shape.threads, static_cast<int32_t>(row.shape.chunk_bytes),
                                   row.shape.senders, row.shape.groups}) {
        digest.add(number);
      }
    }
    digest.add(table.times[collective].size());
    for (const MeasuredTime& time : table.times[collective]) {
      digest.add(time.algorithm);
      digest.add(time.bytes);
      digest.add(time.us);
    }
  }
  return digest.value();
}

// Whose routes a table of that key has.
ProviderKind kind_of(const TuningTable& table) {
  for (int32_t number = 0; number < kNamedProviders; ++number) {
    const ProviderKind kind = static_cast<ProviderKind>(number);
    if (table.provider != kProviderNames[number]) continue;
    return kind == ProviderKind::kHost && table.nodes[0] > 1 ? ProviderKind::kNodes : kind;
  }
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "tuning table %s: there is no provider \"%s\"; there are host, nvshmem, nccl",
       table.name.c_str(), table.provider.c_str());
}

// What a message is about: the table, and which of its rows or times.
struct Place {
  const TuningTable& table;
  const char* what;
  int32_t number;

  [[noreturn]] __attribute__((format(printf, 2, 3))) void refuse(const char* format, ...) const {
    char problem[512];
    std::va_list arguments;
    va_start(arguments, format);
    Text(problem, sizeof problem).add_list(format, arguments);
    va_end(arguments);
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "tuning table %s, %s %d: %s", table.name.c_str(), what, number, problem);
  }

  void check_collective(int32_t collective) const {
    if (collective >= 0 && collective < SPARKGAP_COLLECTIVES) return;
    refuse("there is no collective %d", collective);
  }

  Algorithm route(int32_t collective, const char* route, ProviderKind provider) const {
    Algorithm algorithm = Algorithm::kAuto;
    if (route != nullptr && find_route(collective, route, provider, &algorithm)) return algorithm;
    refuse("%s has no route \"%s\" in %s; it has: %s", kCollectives[collective].name, route == nullptr ? "" : route,
           kProviderNames[static_cast<int32_t>(provider)], algorithm_names(collective, provider));
  }
};

void check_range(const TuningTable& table, const char* what, const int32_t (&range)[2], int32_t least) {
  if (range[0] >= least && range[0] <= range[1]) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "tuning table %s: it is for %d to %d %s", table.name.c_str(), range[0],
       range[1], what);
}

// On the host, rows of one node and of several are of other routes, and nobody compares the CPUs of several.
void check_nodes_of_host(const TuningTable& table) {
  if (table.provider != kProviderNames[static_cast<int32_t>(ProviderKind::kHost)] || table.nodes[1] == 1) return;
  if (table.nodes[0] == 1) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
         "tuning table %s: it is for 1 to %d nodes, but of provider host worlds on one node have other routes than on "
         "several: make a table for either",
         table.name.c_str(), table.nodes[1]);
  }
  if (!table.device.empty()) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
         "tuning table %s: it is for \"%s\", but of provider host worlds on several nodes have no one device: leave it "
         "away",
         table.name.c_str(), table.device.c_str());
  }
}

void add_row(TuningTable& table, const sparkgap_tuning_row& row, int32_t number, ProviderKind kind) {
  const Place place = {table, "row", number};
  place.check_collective(row.collective);
  const Algorithm algorithm = place.route(row.collective, row.route, kind);
  std::vector<TableRow>& rows = table.rows[row.collective];
  if (static_cast<int32_t>(rows.size()) == Routes::kMostTableRows) {
    place.refuse("%s has more than %d rows", kCollectives[row.collective].name, Routes::kMostTableRows);
  }
  if (!rows.empty() && row.most_bytes < rows.back().bytes) {
    place.refuse("it is for %llu bytes, but comes after one for %llu: rows are in the order of their sizes",
                 static_cast<unsigned long long>(row.most_bytes), static_cast<unsigned long long>(rows.back().bytes));
  }
  kernels::Shape shape = {};
  if (row.blocks != 0) shape = {row.blocks, row.threads, row.chunk_bytes, row.senders, row.groups};
  if (row.blocks < 0 || (row.blocks > 0 && !kernels::is_shape(row.collective, algorithm, shape))) {
    place.refuse("a kernel cannot have %d blocks of %d threads with chunks of %u bytes, %d senders and %d groups",
                 row.blocks, row.threads, row.chunk_bytes, row.senders, row.groups);
  }
  rows.push_back({row.most_bytes, algorithm, shape});
}

// Of each collective and route, while a table is copied: every PE of every world copies a thousand.
struct LastTimes {
  struct {
    int32_t count;
    uint64_t bytes;
  } of[SPARKGAP_COLLECTIVES][kAlgorithms] = {};
};

void add_time(TuningTable& table, LastTimes& last_times, const sparkgap_tuning_time& time, int32_t number,
              ProviderKind kind) {
  const Place place = {table, "time", number};
  place.check_collective(time.collective);
  const Algorithm algorithm = place.route(time.collective, time.route, kind);
  if (!std::isfinite(time.microseconds) || time.microseconds <= 0) {
    place.refuse("a call takes more than 0 us");
  }
  auto& last = last_times.of[time.collective][static_cast<int32_t>(algorithm)];
  if (last.count > 0 && last.bytes >= time.bytes) {
    place.refuse("it is of %llu bytes, but comes after one of %llu: times are in the order of their sizes",
                 static_cast<unsigned long long>(time.bytes), static_cast<unsigned long long>(last.bytes));
  }
  if (last.count == kMostTimes) place.refuse("%s has more than %d times", time.route, kMostTimes);
  last = {last.count + 1, time.bytes};
  table.times[time.collective].push_back({algorithm, time.bytes, time.microseconds});
}

bool is_in(int32_t number, const int32_t (&range)[2]) { return number >= range[0] && number <= range[1]; }

void add_range(Text& text, const int32_t (&range)[2]) {
  text.add(range[0] == range[1] ? "%d" : "%d to %d", range[0], range[1]);
}

// "3.4" is 3.4.5, and not 3.40.1.
bool is_release(const std::string& release, int32_t version) {
  if (version == 0) return false;
  return (version_text(version) + ".").compare(0, release.size() + 1, release + ".") == 0;
}

bool is_on_gpu(const Circumstances& world) {
  return world.provider == ProviderKind::kNvshmem || world.provider == ProviderKind::kNccl;
}

// Tables know worlds of host memory by one name, on one node and on several.
const char* provider_of(const Circumstances& world) {
  return kProviderNames[static_cast<int32_t>(is_on_gpu(world) ? world.provider : ProviderKind::kHost)];
}

std::string release_of(int32_t version) { return version == 0 ? "" : version_text(version); }

}  // namespace

double TuningTable::time_of(int32_t collective, Algorithm algorithm, uint64_t bytes) const {
  const MeasuredTime* before = nullptr;
  for (const MeasuredTime& time : times[collective]) {
    if (time.algorithm != algorithm) continue;
    if (time.bytes == bytes) return time.us;
    if (time.bytes < bytes) {
      before = &time;
      continue;
    }
    if (before == nullptr) return 0;
    const double part = static_cast<double>(bytes - before->bytes) / static_cast<double>(time.bytes - before->bytes);
    return before->us + part * (time.us - before->us);
  }
  return 0;
}

TuningTable copy_table(const sparkgap_tuning_table& given) {
  TuningTable table;
  table.name = text_of(given.name);
  if (table.name.empty() || table.name.size() > kMostNameBytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "a tuning table has a name of 1 to %zu bytes, not \"%s\"", kMostNameBytes,
         table.name.c_str());
  }
  table.provider = text_of(given.provider);
  table.device = text_of(given.device);
  table.nvshmem = text_of(given.nvshmem);
  table.nccl = text_of(given.nccl);
  table.link = given.link;
  table.pes[0] = given.pes_from;
  table.pes[1] = given.pes_to;
  table.nodes[0] = given.nodes_from;
  table.nodes[1] = given.nodes_to;
  table.lanes[0] = given.lanes_from;
  table.lanes[1] = given.lanes_to;
  table.shared = given.shared != 0;
  if (table.link < -1 || table.link >= kLinks) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "tuning table %s: there is no link %d", table.name.c_str(), table.link);
  }
  check_range(table, "PEs", table.pes, 1);
  check_range(table, "nodes", table.nodes, 1);
  check_range(table, "lanes", table.lanes, 0);
  check_nodes_of_host(table);
  if (given.row_count < 0 || given.time_count < 0 || (given.row_count > 0 && given.rows == nullptr) ||
      (given.time_count > 0 && given.times == nullptr)) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "tuning table %s has %d rows and %d times, but not where they are",
         table.name.c_str(), given.row_count, given.time_count);
  }
  const ProviderKind kind = kind_of(table);
  for (int32_t row = 0; row < given.row_count; ++row) add_row(table, given.rows[row], row, kind);
  LastTimes last_times;
  for (int32_t time = 0; time < given.time_count; ++time) add_time(table, last_times, given.times[time], time, kind);
  table.digest = digest_of(table);
  return table;
}

TuningTable key_of(const Circumstances& world) {
  TuningTable key;
  key.provider = provider_of(world);
  key.device = world.device;
  key.nvshmem = release_of(world.nvshmem_version);
  key.nccl = release_of(world.nccl_version);
  key.link = world.slowest_link;
  std::fill(std::begin(key.pes), std::end(key.pes), world.pes);
  std::fill(std::begin(key.nodes), std::end(key.nodes), world.nodes);
  std::fill(std::begin(key.lanes), std::end(key.lanes), world.lanes);
  key.shared = world.shared();
  return key;
}

bool fits(const TuningTable& table, const Circumstances& world, Text& why_not) {
  const char* const provider = provider_of(world);
  if (table.provider != provider) {
    why_not.add("for provider %s, this world has %s", table.provider.c_str(), provider);
    return false;
  }
  if (!is_in(world.pes, table.pes)) {
    add_range(why_not.add("for "), table.pes);
    why_not.add(" PEs, this world has %d", world.pes);
    return false;
  }
  if (!is_in(world.nodes, table.nodes)) {
    add_range(why_not.add("for "), table.nodes);
    why_not.add(" nodes, this world has %d", world.nodes);
    return false;
  }
  if (table.shared != world.shared()) {
    why_not.add("for PEs that %s, this world's %s", table.shared ? "share CPUs or GPUs" : "have one each",
                world.shared() ? "share" : "have one each");
    return false;
  }
  if (!table.device.empty() && table.device != world.device) {
    why_not.add("for \"%s\", this world has \"%s\"", table.device.c_str(), world.device);
    return false;
  }
  if (table.link >= 0 && table.link != world.slowest_link) {
    why_not.add("for links of %s, this world has %s", kLinkNames[table.link], kLinkNames[world.slowest_link]);
    return false;
  }
  if (table.lanes[1] > 0 && !is_in(world.lanes, table.lanes)) {
    add_range(why_not.add("for "), table.lanes);
    why_not.add(" blocks, this world has %d", world.lanes);
    return false;
  }
  const struct {
    const char* name;
    const std::string& release;
    int32_t found;
  } libraries[] = {{"NVSHMEM", table.nvshmem, world.nvshmem_version}, {"NCCL", table.nccl, world.nccl_version}};
  for (const auto& library : libraries) {
    if (library.release.empty() || is_release(library.release, library.found)) continue;
    why_not.add("for %s %s, this world has %s", library.name, library.release.c_str(),
                library.found == 0 ? "none" : "another");
    return false;
  }
  return true;
}

}  // namespace sparkgap
