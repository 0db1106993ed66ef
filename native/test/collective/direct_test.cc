// Reading the others' arrays where they lie: whatever memory each PE has them in, and where the kernel forbids it.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "collective/case.h"
#include "support/check.h"
#include "support/make_call.h"

namespace sparkgap::test {
namespace {

// Some for slots, some for slots if the kernel does not copy, some for no slot; of blocks for three PEs and of whole
// arrays.
constexpr uint64_t kCounts[] = {1, 2730, 2731, 8193, 100003, 200003};
constexpr uint64_t kLargestCount = 200003;

volatile sig_atomic_t refused = 0;

void refuse(int, siginfo_t*, void* context) {
  ++refused;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

// As a container does whose seccomp profile has no process_vm_readv: the call fails with EPERM from now on, and is
// counted.
void forbid_reading_of_processes() {
  struct sigaction action = {};
  action.sa_sigaction = refuse;
  action.sa_flags = SA_SIGINFO;
  expect(sigaction(SIGSYS, &action, nullptr) == 0, "no handler: %s", std::strerror(errno));
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {static_cast<unsigned short>(std::size(program)), program};
  expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0,
         "no seccomp filter: %s", std::strerror(errno));
  char byte = 1;
  const iovec own = {&byte, 1};
  expect(process_vm_readv(getpid(), &own, 1, &own, 1, 0) < 0 && errno == EPERM, "the filter forbids nothing");
  refused = 0;
}

// Each collective, whose array is in the memory that `memory_of(turn)` says for this PE.
template <class MemoryOf>
void run_direct(CaseRunner& runner, int pes, const MemoryOf& memory_of) {
  int turn = 0;
  for (const int32_t collective : {SPARKGAP_BROADCAST, SPARKGAP_ALL_GATHER, SPARKGAP_ALL_TO_ALL, SPARKGAP_REDUCE,
                                   SPARKGAP_REDUCE_SCATTER, SPARKGAP_ALL_REDUCE}) {
    for (const uint64_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        for (int root = 0; root < pes; ++root, ++turn) {
          runner.run({collective, "direct", SPARKGAP_INT32, SPARKGAP_SUM, count, root, in_place, memory_of(turn),
                      turn % 4, static_cast<uint64_t>(turn)});
        }
      }
    }
  }
}

void every_pe_has_its_own_kind_of_memory(Placement placement) {
  const Inputs inputs(3);
  run_pes({3, placement}, [&](const Pe& pe) {
    CaseRunner runner(pe, inputs, 3 * kLargestCount * sizeof(int32_t));
    run_direct(runner, 3, [&](int turn) { return static_cast<Memory>((turn + pe.pe()) % kMemories); });
  });
}

void a_pe_that_may_not_read_the_others_tries_once_and_makes_all_take_another_way() {
  const Inputs inputs(3);
  run_pes({3}, [&](const Pe& pe) {
    CaseRunner runner(pe, inputs, 3 * kLargestCount * sizeof(int32_t));
    if (pe.pe() == 1) forbid_reading_of_processes();
    run_direct(runner, 3, [](int) { return Memory::kPrivate; });
    if (pe.pe() == 1) expect(refused == 1, "it tried %d times", static_cast<int>(refused));
  });
}

// PE 2's array is to be fetched, which nobody may, and those of the others are in place: who takes a block before that
// has failed would have written over its own.
void where_arrays_cannot_be_fetched_those_in_place_are_as_they_were() {
  constexpr uint64_t kCount = 20001;
  const Inputs inputs(3);
  run_pes({3}, [&](const Pe& pe) {
    CaseRunner runner(pe, inputs, 3 * kCount * sizeof(int32_t));
    forbid_reading_of_processes();
    runner.run(
        {SPARKGAP_ALL_TO_ALL, "direct", SPARKGAP_INT32, SPARKGAP_SUM, kCount, 0, pe.pe() != 2, Memory::kPrivate, 0, 1});
  });
}

// What is read has to be what the array was when its PE made the call, however late another PE comes: `in` is written
// to as soon as a call has returned, and nothing stands between two calls.
void an_array_may_be_written_to_when_its_call_has_returned(Placement placement) {
  constexpr int kPes = 3;
  constexpr int kCalls = 4000;
  constexpr uint64_t kCount = 700;
  constexpr int32_t kCollectives[] = {SPARKGAP_BROADCAST,  SPARKGAP_ALL_GATHER,     SPARKGAP_REDUCE,
                                      SPARKGAP_ALL_TO_ALL, SPARKGAP_REDUCE_SCATTER, SPARKGAP_ALL_REDUCE};
  run_pes({kPes, placement}, [&](const Pe& pe) {
    std::vector<int32_t> own(kPes * kCount);
    std::vector<int32_t> out(kPes * kCount);
    auto* const shared = static_cast<int32_t*>(sparkgap_buffer_address(pe.allocate(kPes * kCount * sizeof(int32_t))));
    for (const int32_t collective : kCollectives) {
      pe.ok(sparkgap_world_set_algorithm(pe.world(), collective, "direct"), "sparkgap_world_set_algorithm");
    }
    std::minstd_rand all_alike(7);
    std::minstd_rand each_its_own(static_cast<unsigned>(pe.pe()) + 1);
    for (int32_t turn = 0; turn < kCalls; ++turn) {
      const int32_t collective = kCollectives[all_alike() % std::size(kCollectives)];
      const int32_t root = static_cast<int32_t>(all_alike() % kPes);
      const bool all_private = all_alike() % 2 == 0;
      int32_t* const in = all_private || each_its_own() % 2 == 0 ? own.data() : shared;
      if (each_its_own() % 64 == 0) usleep(200);
      std::fill_n(in, kPes * kCount, turn * kPes + pe.pe());
      const CollectiveCall call =
          sparkgap::make_call(collective, in, out.data(), kCount, SPARKGAP_INT32, SPARKGAP_SUM, root);
      pe.ok(make_call(pe.world(), call), sparkgap::kCollectives[collective].name);
      std::fill_n(in, kPes * kCount, -1);
      const Collective& what = sparkgap::kCollectives[collective];
      if (what.out.root_only && pe.pe() != root) continue;
      const bool has_blocks = collective == SPARKGAP_ALL_GATHER || collective == SPARKGAP_ALL_TO_ALL;
      const int32_t sum = kPes * kPes * turn + kPes * (kPes - 1) / 2;
      for (uint64_t i = 0; i < (has_blocks ? kPes : 1) * kCount; ++i) {
        const int32_t from = has_blocks ? static_cast<int32_t>(i / kCount) : root;
        const int32_t expected = what.has_op ? sum : turn * kPes + from;
        expect(out[i] == expected, "call %d, %s: %d is at %lu, not %d", turn, what.name, out[i], i, expected);
      }
    }
  });
}

// PE 0's array goes as soon as its call has failed, which PE 1, in the same process, is then still reading.
void an_array_may_go_when_its_call_has_failed() {
  constexpr uint64_t kBytes = 256 << 20;
  for (int round = 0; round < 3; ++round) {
    run_pes({2, Placement::kThreads}, [](const Pe& pe) {
      void* array = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      expect(array != MAP_FAILED, "no memory");
      pe.ok(sparkgap_world_set_algorithm(pe.world(), SPARKGAP_BROADCAST, "direct"), "sparkgap_world_set_algorithm");
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      std::thread other;
      if (pe.pe() == 0) {
        other = std::thread([&pe] {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          sparkgap_world_abort(pe.world(), "enough");
        });
      }
      const sparkgap_status status = sparkgap_broadcast(pe.world(), array, array, kBytes, SPARKGAP_INT8, 0);
      munmap(array, kBytes);
      if (other.joinable()) other.join();
      // A machine that copies it within 10 ms shows nothing.
      expect(status == SPARKGAP_ABORTED || status == SPARKGAP_OK, "status %d: %s", status,
             sparkgap_last_error(pe.world()));
    });
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"every_process_has_its_own_kind_of_memory", [] { every_pe_has_its_own_kind_of_memory(Placement::kProcesses); }},
       {"every_thread_has_its_own_kind_of_memory", [] { every_pe_has_its_own_kind_of_memory(Placement::kThreads); }},
       {"a_pe_that_may_not_read_the_others_tries_once_and_makes_all_take_another_way",
        a_pe_that_may_not_read_the_others_tries_once_and_makes_all_take_another_way},
       {"where_arrays_cannot_be_fetched_those_in_place_are_as_they_were",
        where_arrays_cannot_be_fetched_those_in_place_are_as_they_were},
       {"an_array_of_a_process_may_be_written_to_when_its_call_has_returned",
        [] { an_array_may_be_written_to_when_its_call_has_returned(Placement::kProcesses); }},
       {"an_array_of_a_thread_may_be_written_to_when_its_call_has_returned",
        [] { an_array_may_be_written_to_when_its_call_has_returned(Placement::kThreads); }},
       {"an_array_may_go_when_its_call_has_failed", an_array_may_go_when_its_call_has_failed}});
}
