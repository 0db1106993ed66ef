// Whether a world of NVSHMEM has NCCL beside it: all PEs come to the same, whatever each of them has. The libraries are
// made up; with real ones: gpu/world_beside.cc.
#include "engine/device/beside.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/atomics.h"
#include "support/check.h"
#include "support/control_memory.h"

namespace sparkgap::test {
namespace {

using Outcome = Beside::Outcome;

constexpr int64_t kTimeoutMs = 20000;

void wait_until(const char* what, const std::function<bool()>& ready) {
  for (int i = 0; !ready(); ++i) {
    expect(i < 20000, "waited in vain: %s", what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// What a PE has of NCCL.
class Made final : public BesideLibrary {
 public:
  const char* missing = nullptr;  // why there is none
  const char* broken = nullptr;   // why it does not start
  int32_t version = 22809;
  uint64_t place = 0;
  std::atomic<bool> holds{false};  // its start lasts until it is dropped
  std::atomic<int> loads{0};
  std::atomic<int> starts{0};
  std::atomic<int> drops{0};
  uint8_t started_with = 0;

  sparkgap_status load_beside(BesideCard* card, Text& told, sparkgap::Failure* failure) override {
    ++loads;
    if (missing != nullptr) return refuse(failure, missing);
    told.add("/made/libnccl.so.2");
    card->version = version;
    card->place = place;
    std::memset(card->id, static_cast<int>(place), sizeof card->id);
    return SPARKGAP_OK;
  }

  sparkgap_status start_beside(const uint8_t* id, sparkgap::Failure* failure) override {
    ++starts;
    started_with = id[0];
    if (broken != nullptr) return refuse(failure, broken);
    while (holds.load() && drops.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return holds.load() ? refuse(failure, "dropped") : SPARKGAP_OK;
  }

  void drop_beside() override { ++drops; }

 private:
  static sparkgap_status refuse(sparkgap::Failure* failure, const char* why) {
    failure->status = SPARKGAP_UNAVAILABLE;
    Text(failure->message, sizeof failure->message).add("%s", why);
    return failure->status;
  }
};

// PEs of one process, in its own control segment.
class World {
 public:
  explicit World(int32_t pes) : memory_(pes), libraries_(static_cast<size_t>(pes)) {
    for (int32_t pe = 0; pe < pes; ++pe) {
      PeRecord& record = memory_.control().record(pe);
      std::snprintf(record.label, sizeof record.label, "executor %d", pe);
      library(pe).place = static_cast<uint64_t>(pe) + 1;
    }
    ends_.resize(static_cast<size_t>(pes));
  }

  Made& library(int32_t pe) { return libraries_[static_cast<size_t>(pe)]; }
  Beside& end(int32_t pe) { return *ends_[static_cast<size_t>(pe)]; }
  const Control& control() const { return memory_.control(); }
  int32_t pes() const { return memory_.control().pes(); }

  void open(int32_t pe, int64_t timeout_ms = kTimeoutMs) {
    ends_[static_cast<size_t>(pe)] = std::make_unique<Beside>(control(), pe, library(pe), timeout_ms);
  }
  void open_all() {
    for (int32_t pe = 0; pe < pes(); ++pe) open(pe);
  }
  void expect_all(Outcome expected, const std::vector<std::string>& told) {
    for (int32_t pe = 0; pe < pes(); ++pe) {
      wait_until("an outcome", [&] { return end(pe).outcome() != Outcome::kOpen; });
      char line[1000];
      Text text(line, sizeof line);
      end(pe).describe(text);
      expect(end(pe).outcome() == expected, "PE %d: %s", pe, line);
      for (const std::string& part : told) {
        expect(std::string(line).find(part) != std::string::npos, "\"%s\" is not in: %s", part.c_str(), line);
      }
    }
  }

 private:
  ControlMemory memory_;
  std::vector<Made> libraries_;
  std::vector<std::unique_ptr<Beside>> ends_;
};

void all_pes_start_it_with_the_id_of_pe_0() {
  World world(3);
  world.open_all();
  world.expect_all(Outcome::kThere, {", NCCL 2.28.9 (/made/libnccl.so.2) beside it"});
  for (int32_t pe = 0; pe < 3; ++pe) {
    world.end(pe).end();
    expect(world.library(pe).started_with == 1, "PE %d started with the id of another", pe);
    expect(world.library(pe).drops.load() == 0, "PE %d dropped it", pe);
    expect(world.end(pe).outcome() == Outcome::kThere, "it is gone at the end");
  }
}

void a_pe_that_has_none_is_named_and_nobody_starts() {
  World world(3);
  world.library(1).missing = "there is no libnccl.so.2";
  world.open_all();
  world.expect_all(Outcome::kNone, {", no NCCL beside it: PE 1 (executor 1): there is no libnccl.so.2"});
  for (int32_t pe = 0; pe < 3; ++pe) {
    world.end(pe).end();
    expect(world.library(pe).starts.load() == 0, "PE %d started", pe);
  }
}

void versions_that_differ_are_told() {
  World world(2);
  world.library(1).version = 22903;
  world.open_all();
  world.expect_all(Outcome::kNone, {"PE 0 (executor 0) has NCCL 2.28.9, PE 1 (executor 1) 2.29.3"});
}

void pes_that_share_a_gpu_do_without() {
  World world(3);
  world.library(2).place = world.library(0).place;
  world.open_all();
  world.expect_all(Outcome::kNone, {"PEs 0 and 2 share a GPU"});
}

void what_others_have_started_is_dropped_where_one_fails() {
  World world(2);
  world.library(0).holds = true;
  world.library(1).broken = "unhandled system error";
  world.open_all();
  world.expect_all(Outcome::kNone, {"PE 1 (executor 1): unhandled system error"});
  world.end(0).end();
  expect(world.library(0).drops.load() > 0, "PE 0 still waits for PE 1");
}

void a_pe_that_leaves_in_between_leaves_the_others_without() {
  for (const bool started : {false, true}) {
    World world(2);
    world.library(0).holds = true;
    if (started) {
      world.open_all();
      wait_until("both start", [&] { return world.library(0).starts.load() > 0; });
      world.end(0).end();
    } else {
      world.open(0);
      wait_until("PE 0 loads", [&] { return load_acquire(&world.control().record(0).beside.state) == kBesideLoaded; });
      world.end(0).end();
      world.open(1);
    }
    world.expect_all(Outcome::kNone, {"PE 0 (executor 0): "});
  }
}

void one_that_does_not_come_is_not_waited_for_for_ever() {
  World world(2);
  world.open(0, 50);
  wait_until("PE 0 gives up", [&] { return world.end(0).outcome() != Outcome::kOpen; });
  world.open(1);
  world.expect_all(Outcome::kNone, {"PE 0 (executor 0): not all PEs have begun to open it"});
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"all_pes_start_it_with_the_id_of_pe_0", all_pes_start_it_with_the_id_of_pe_0},
       {"a_pe_that_has_none_is_named_and_nobody_starts", a_pe_that_has_none_is_named_and_nobody_starts},
       {"versions_that_differ_are_told", versions_that_differ_are_told},
       {"pes_that_share_a_gpu_do_without", pes_that_share_a_gpu_do_without},
       {"what_others_have_started_is_dropped_where_one_fails", what_others_have_started_is_dropped_where_one_fails},
       {"a_pe_that_leaves_in_between_leaves_the_others_without", a_pe_that_leaves_in_between_leaves_the_others_without},
       {"one_that_does_not_come_is_not_waited_for_for_ever", one_that_does_not_come_is_not_waited_for_for_ever}});
}
