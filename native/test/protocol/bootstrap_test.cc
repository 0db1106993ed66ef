// How a world comes about, and what is said when it cannot.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "protocol/handle.h"
#include "provider/host/world_id.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

// A world id that tests can falsify.
union Id {
  uint8_t bytes[SPARKGAP_WORLD_ID_BYTES];
  HostWorldId fields;
};

Id id_of(const Handle& pe_0) {
  Id id;
  expect(sparkgap_world_id(pe_0, id.bytes) == SPARKGAP_OK, "no world id: %s", sparkgap_last_error(pe_0));
  return id;
}

void expect_refused(const Id& id, sparkgap_status expected, const std::vector<std::string>& parts) {
  const Handle pe_1(1);
  expect_failure(pe_1, sparkgap_world_connect(pe_1, id.bytes), expected, parts);
  expect_failure(pe_1, sparkgap_barrier(pe_1), expected, parts);
}

void an_id_that_does_not_fit_is_refused() {
  const Handle pe_0(0);
  const Id id = id_of(pe_0);
  const auto falsified = [&](const auto& change) {
    Id other = id;
    change(other.fields);
    return other;
  };
  expect_refused(Id{}, SPARKGAP_INVALID_ARGUMENT, {"not the id"});
  expect_refused(falsified([](HostWorldId& f) { f.key[1] ^= 1; }), SPARKGAP_UNAVAILABLE, {"key", "stale"});
  expect_refused(falsified([](HostWorldId& f) { f.epoch = 4; }), SPARKGAP_INVALID_ARGUMENT, {"epoch 5", "epoch 4"});
  expect_refused(falsified([](HostWorldId& f) { f.pes = 3; }), SPARKGAP_INVALID_ARGUMENT, {"2 PEs", "3 PEs"});
  expect_refused(falsified([](HostWorldId& f) { f.abi_version = 99; }), SPARKGAP_UNAVAILABLE, {"ABI 99", "plugin jar"});
  expect_refused(falsified([](HostWorldId& f) { f.fd = 19999; }), SPARKGAP_UNAVAILABLE, {"cannot open"});
  expect_refused(falsified([](HostWorldId& f) { f.segment_bytes += 4096; }), SPARKGAP_UNAVAILABLE, {"laid out"});
  expect_refused(falsified([](HostWorldId& f) { f.pid_namespace += 1; }), SPARKGAP_UNAVAILABLE, {"PID namespaces"});
  expect_refused(falsified([](HostWorldId& f) { f.start_time += 1; }), SPARKGAP_PEER_LOST, {"gone"});
  expect_refused(falsified([](HostWorldId& f) {
                   f.boot_id[0] ^= 1;
                   std::strcpy(f.host, "elsewhere");
                 }),
                 SPARKGAP_UNAVAILABLE, {"PE 1 is on host", "the segment on host elsewhere", "joins PEs of one host"});
}

void an_id_of_a_destroyed_world_is_refused() {
  Handle pe_0(0);
  const Id id = id_of(pe_0);
  pe_0.close();
  expect_refused(id, SPARKGAP_UNAVAILABLE, {"cannot open"});
  // The next world has the same descriptor, but another key.
  const Handle next(0);
  expect(id_of(next).fields.fd == id.fields.fd, "the descriptor was not used again; the test shows nothing");
  expect_refused(id, SPARKGAP_UNAVAILABLE, {"stale id"});
}

void an_id_of_a_dead_process_is_refused() {
  const Shared<Id> id;
  const pid_t child = fork();
  if (child == 0) {
    const Handle pe_0(0);
    id[0] = id_of(pe_0);
    std::_Exit(0);
  }
  waitpid(child, nullptr, 0);
  expect_refused(id[0], SPARKGAP_PEER_LOST, {"process", "is gone", "ended before PE 1 connected"});
}

// Of a world in which some PE is waited for in vain.
constexpr int64_t kShortMs = 500;

void a_pe_that_does_not_connect_is_named_at_the_deadline() {
  const Handle pe_0(0, 2, 5, "", false, kShortMs);
  const Id id = id_of(pe_0);
  expect_failure(pe_0, sparkgap_world_connect(pe_0, id.bytes), SPARKGAP_TIMED_OUT,
                 {"connect", "PE 1", "not connected"});
  expect(sparkgap_last_error_pe(pe_0) == 1, "the error is about PE %d", sparkgap_last_error_pe(pe_0));
  expect_refused(id, SPARKGAP_TIMED_OUT, {"PE 0 (test PE 0) ended the world", "not connected"});
}

void a_pe_connects_once() {
  const Handle pe_0(0);
  const Handle first(1);
  const Id id = id_of(pe_0);
  std::thread other([&] { sparkgap_world_connect(first, id.bytes); });
  expect(sparkgap_world_connect(pe_0, id.bytes) == SPARKGAP_OK, "connect: %s", sparkgap_last_error(pe_0));
  other.join();
  expect_failure(pe_0, sparkgap_world_connect(pe_0, id.bytes), SPARKGAP_INVALID_ARGUMENT, {"connected already"});
  const Handle second(1);
  expect_failure(second, sparkgap_world_connect(second, id.bytes), SPARKGAP_UNAVAILABLE,
                 {"cannot open", "all of its PEs are connected"});
  expect(sparkgap_world_health(pe_0) == SPARKGAP_OK, "the second PE 1 has broken the world");
}

void a_pe_is_refused_whose_place_is_taken() {
  const Handle pe_0(0, 3, 5, "", false, kShortMs);
  const Handle first(1, 3, 5, "", false, kShortMs);
  const Id id = id_of(pe_0);
  std::thread other([&] { sparkgap_world_connect(first, id.bytes); });
  const Handle second(1, 3, 5, "", false, kShortMs);
  sparkgap_status status;
  std::string text;
  // PE 0 is still to come, so the world can be opened. Whichever of the two is second is refused.
  expect(sparkgap_world_connect(second, id.bytes) != SPARKGAP_OK, "a world of 3 PEs is whole with one of them");
  other.join();
  text = std::string(sparkgap_last_error(first)) + sparkgap_last_error(second);
  expect(text.find("PE 1 has been connected to this world already, by process") != std::string::npos, "%s",
         text.c_str());
  status = sparkgap_world_connect(pe_0, id.bytes);
  expect(status != SPARKGAP_OK, "a world of 3 PEs is whole with two of them");
}

void different_options_are_refused_by_name() {
  const auto refusal = [](const Handle& pe_1) {
    const Handle pe_0(0);
    const Id id = id_of(pe_0);
    sparkgap_status status = SPARKGAP_OK;
    std::thread other([&] { status = sparkgap_world_connect(pe_1, id.bytes); });
    const sparkgap_status of_pe_0 = sparkgap_world_connect(pe_0, id.bytes);
    other.join();
    expect_failure(pe_0, of_pe_0, SPARKGAP_MISMATCH, {"PE 0 (test", "PE 1 (test"});
    expect(status == SPARKGAP_MISMATCH, "status %d of PE 1: %s", status, sparkgap_last_error(pe_1));
    return std::string(sparkgap_last_error(pe_1));
  };
  const std::string check = refusal(Handle(1, 2, 5, "", true));
  for (const char* part : {"check (spark.sparkgap.check)", "on on PE", "off on PE"}) {
    expect(check.find(part) != std::string::npos, "\"%s\" is not in: %s", part, check.c_str());
  }
  const std::string timeout = refusal(Handle(1, 2, 5, "", false, 700));
  for (const char* part : {"peer_timeout_ms (spark.sparkgap.peer.timeout)", "20000 on PE 0", "700 on PE 1"}) {
    expect(timeout.find(part) != std::string::npos, "\"%s\" is not in: %s", part, timeout.c_str());
  }
}

// The error of PE 1 of three, of which PE 0 is killed when it has connected and PE 2 has not connected yet.
void a_death_is_told_while_another_pe_is_still_to_connect() {
  const Shared<Id> id;
  const Shared<std::atomic<int>> stage;
  Pes pes{3};
  pes.has_world = false;
  std::string failures;
  try {
    run_pes(pes, [&](const Pe& pe) {
      const auto wait_for_stage = [&](int number) {
        while (stage->load() < number) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      };
      if (pe.pe() == 2) return wait_for_stage(3);
      if (pe.pe() == 1) wait_for_stage(1);
      const Handle handle(pe.pe(), 3);
      if (pe.pe() == 0) {
        id[0] = id_of(handle);
        stage->store(1);
        std::thread([] {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          kill(getpid(), SIGKILL);
        }).detach();
        sparkgap_world_connect(handle, id[0].bytes);
        std::this_thread::sleep_for(std::chrono::seconds(5));
      }
      const sparkgap_status status = sparkgap_world_connect(handle, id[0].bytes);
      stage->store(3);
      expect_failure(handle, status, SPARKGAP_PEER_LOST, {"PE 0 (test PE 0", "is lost"});
    });
  } catch (const Failure& failure) {
    failures = failure.what();
  }
  expect(failures == "PE 0 of 3: ended by signal Killed", "%s", failures.c_str());
}

void an_abort_before_connect_reaches_everybody() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  const Id id = id_of(pe_0);
  sparkgap_world_abort(pe_1, "changed its mind");
  expect_failure(pe_1, sparkgap_barrier(pe_1), SPARKGAP_ABORTED, {"changed its mind"});
  expect_failure(pe_1, sparkgap_world_connect(pe_1, id.bytes), SPARKGAP_ABORTED, {"changed its mind"});
  expect_failure(pe_0, sparkgap_world_connect(pe_0, id.bytes), SPARKGAP_ABORTED, {"PE 1", "changed its mind"});
}

void an_abort_ends_a_connect() {
  const Handle pe_0(0);
  const Id id = id_of(pe_0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    sparkgap_world_abort(pe_0, "no longer wanted");
  });
  expect_failure(pe_0, sparkgap_world_connect(pe_0, id.bytes), SPARKGAP_ABORTED, {"no longer wanted"});
  other.join();
}

void a_process_can_hold_several_worlds() {
  constexpr int kWorlds = 3;
  const Handle zeros[kWorlds] = {Handle(0), Handle(0), Handle(0)};
  const Handle ones[kWorlds] = {Handle(1), Handle(1), Handle(1)};
  const auto work = [&](const Handle* ends, int32_t pe) {
    sparkgap_buffer* buffers[kWorlds];
    for (int world = 0; world < kWorlds; ++world) {
      const Id id = id_of(zeros[world]);
      expect(sparkgap_world_connect(ends[world], id.bytes) == SPARKGAP_OK, "connect: %s",
             sparkgap_last_error(ends[world]));
      expect(sparkgap_allocate(ends[world], 64, &buffers[world]) == SPARKGAP_OK, "allocate: %s",
             sparkgap_last_error(ends[world]));
    }
    for (int round = 0; round < 100; ++round) {
      for (int world = 0; world < kWorlds; ++world) {
        int32_t value = (world + 1) * (pe + 1);
        sparkgap_all_reduce(ends[world], &value, &value, 1, SPARKGAP_INT32, SPARKGAP_SUM);
        expect(value == 3 * (world + 1), "world %d has %d", world, value);
      }
    }
    expect_failure(ends[0], sparkgap_signal(ends[0], buffers[1], 0, 1, SPARKGAP_SIGNAL_SET, 0),
                   SPARKGAP_INVALID_ARGUMENT, {"another world"});
    expect_failure(ends[0], sparkgap_free(ends[0], buffers[1]), SPARKGAP_INVALID_ARGUMENT, {"not one of this world"});
    // One ends, the others live on.
    sparkgap_barrier(ends[1]);
    if (pe == 0) sparkgap_world_abort(ends[1], "enough");
    expect(sparkgap_barrier(ends[2]) == SPARKGAP_OK, "world 2: %s", sparkgap_last_error(ends[2]));
    expect_failure(ends[1], sparkgap_barrier(ends[1]), SPARKGAP_ABORTED, {"enough"});
  };
  std::string failure;
  std::thread other([&] {
    try {
      work(ones, 1);
    } catch (const Failure& caught) {
      failure = caught.what();
    }
  });
  work(zeros, 0);
  other.join();
  expect(failure.empty(), "PE 1: %s", failure.c_str());
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"an_id_that_does_not_fit_is_refused", an_id_that_does_not_fit_is_refused},
       {"an_id_of_a_destroyed_world_is_refused", an_id_of_a_destroyed_world_is_refused},
       {"an_id_of_a_dead_process_is_refused", an_id_of_a_dead_process_is_refused},
       {"a_pe_that_does_not_connect_is_named_at_the_deadline", a_pe_that_does_not_connect_is_named_at_the_deadline},
       {"a_pe_connects_once", a_pe_connects_once},
       {"a_pe_is_refused_whose_place_is_taken", a_pe_is_refused_whose_place_is_taken},
       {"different_options_are_refused_by_name", different_options_are_refused_by_name},
       {"a_death_is_told_while_another_pe_is_still_to_connect", a_death_is_told_while_another_pe_is_still_to_connect},
       {"an_abort_before_connect_reaches_everybody", an_abort_before_connect_reaches_everybody},
       {"an_abort_ends_a_connect", an_abort_ends_a_connect},
       {"a_process_can_hold_several_worlds", a_process_can_hold_several_worlds}});
}
