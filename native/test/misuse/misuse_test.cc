// Every argument that a call can be given wrong: the call is refused with a sentence that names the argument and its
// value, nothing is touched, and the world works on.
#include <cinttypes>
#include <cstring>
#include <limits>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kBufferBytes = 4096;

// What the calls below are made with.
struct Arguments {
  sparkgap_world* world;
  sparkgap_buffer* buffer;
  sparkgap_buffer* foreign;  // of another world
  float in[64];
  float out[64];
  uint64_t counts[2];
  uint64_t offsets[2];
  int64_t word;
};

struct Misuse {
  const char* what;
  std::function<sparkgap_status(Arguments&)> call;
  std::vector<const char*> named;  // what the error has to contain
};

std::vector<Misuse> misuses_of_collectives() {
  return {
      {"allReduce of type -1",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.out, 4, -1, SPARKGAP_SUM); },
       {"type", "-1"}},
      {"allReduce of type 8",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.out, 4, SPARKGAP_TYPES, SPARKGAP_SUM); },
       {"type", "8"}},
      {"allReduce by op 5",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.out, 4, SPARKGAP_FLOAT32, SPARKGAP_OPS); },
       {"reduction", "5"}},
      {"allReduce by op -7",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.out, 4, SPARKGAP_FLOAT32, -7); },
       {"reduction", "-7"}},
      {"allReduce from NULL",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, nullptr, a.out, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM); },
       {"in", "null"}},
      {"allReduce to NULL",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, nullptr, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM); },
       {"out", "null"}},
      {"allReduce of more bytes than there are addresses",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.out, kHuge, SPARKGAP_FLOAT64, SPARKGAP_SUM); },
       {"count", "18446744073709551615"}},
      {"allReduce onto the middle of its input",
       [](Arguments& a) { return sparkgap_all_reduce(a.world, a.in, a.in + 2, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM); },
       {"overlap", "in", "out"}},
      {"reduceScatter onto another PE's block",
       [](Arguments& a) { return sparkgap_reduce_scatter(a.world, a.in, a.in + 3, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM); },
       {"overlap", "in", "out"}},
      {"reduceScatter of type 99",
       [](Arguments& a) { return sparkgap_reduce_scatter(a.world, a.in, a.out, 4, 99, SPARKGAP_SUM); },
       {"type", "99"}},
      {"reduceScatter of a count that only overflows times the PEs",
       [](Arguments& a) {
         return sparkgap_reduce_scatter(a.world, a.in, a.out, kHuge / 8, SPARKGAP_FLOAT64, SPARKGAP_SUM);
       },
       {"count", "2305843009213693951"}},
      {"allGather from the middle of its output",
       [](Arguments& a) { return sparkgap_all_gather(a.world, a.out + 1, a.out, 8, SPARKGAP_FLOAT32); },
       {"overlap", "in", "out"}},
      {"allGather of type 10",
       [](Arguments& a) { return sparkgap_all_gather(a.world, a.in, a.out, 8, 10); },
       {"type", "10"}},
      {"allGather to NULL",
       [](Arguments& a) { return sparkgap_all_gather(a.world, a.in, nullptr, 8, SPARKGAP_FLOAT32); },
       {"out", "null"}},
      {"broadcast from root 2 of 2",
       [](Arguments& a) { return sparkgap_broadcast(a.world, a.in, a.out, 4, SPARKGAP_FLOAT32, 2); },
       {"root", "2"}},
      {"broadcast from root -1",
       [](Arguments& a) { return sparkgap_broadcast(a.world, a.in, a.out, 4, SPARKGAP_FLOAT32, -1); },
       {"root", "-1"}},
      {"broadcast to NULL",
       [](Arguments& a) { return sparkgap_broadcast(a.world, a.in, nullptr, 4, SPARKGAP_FLOAT32, 0); },
       {"out", "null"}},
      {"reduce to root 77",
       [](Arguments& a) { return sparkgap_reduce(a.world, a.in, a.out, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM, 77); },
       {"root", "77"}},
      {"reduce from NULL",
       [](Arguments& a) { return sparkgap_reduce(a.world, nullptr, a.out, 4, SPARKGAP_FLOAT32, SPARKGAP_SUM, 0); },
       {"in", "null"}},
      {"allToAll onto the middle of its input",
       [](Arguments& a) { return sparkgap_all_to_all(a.world, a.in, a.in + 1, 8, SPARKGAP_FLOAT32); },
       {"overlap", "in", "out"}},
      {"allToAll of type -3",
       [](Arguments& a) { return sparkgap_all_to_all(a.world, a.in, a.out, 8, -3); },
       {"type", "-3"}},
      {"allToAllv without counts",
       [](Arguments& a) {
         return sparkgap_all_to_allv(a.world, a.in, nullptr, a.offsets, a.out, a.counts, a.offsets, SPARKGAP_FLOAT32);
       },
       {"send_counts", "null"}},
      {"allToAllv without receive offsets",
       [](Arguments& a) {
         return sparkgap_all_to_allv(a.world, a.in, a.counts, a.offsets, a.out, a.counts, nullptr, SPARKGAP_FLOAT32);
       },
       {"receive_offsets", "null"}},
      {"allToAllv with an offset that overflows",
       [](Arguments& a) {
         const uint64_t far[2] = {0, kHuge};
         return sparkgap_all_to_allv(a.world, a.in, a.counts, far, a.out, a.counts, a.offsets, SPARKGAP_FLOAT32);
       },
       {"18446744073709551615"}},
      {"allToAllv of more to itself than it receives of itself",
       [](Arguments& a) {
         const uint64_t more[2] = {a.counts[0] + 1, a.counts[1] + 1};
         return sparkgap_all_to_allv(a.world, a.in, more, a.offsets, a.out, a.counts, a.offsets, SPARKGAP_FLOAT32);
       },
       {"itself", "own"}},
      {"allToAllv onto the middle of its input",
       [](Arguments& a) {
         return sparkgap_all_to_allv(a.world, a.in, a.counts, a.offsets, a.in + 1, a.counts, a.offsets,
                                     SPARKGAP_FLOAT32);
       },
       {"overlap"}},
      {"an algorithm that is none",
       [](Arguments& a) { return sparkgap_world_set_algorithm(a.world, SPARKGAP_ALL_REDUCE, "three-shot"); },
       {"three-shot", "one-shot"}},
      {"an algorithm of a collective that is none",
       [](Arguments& a) { return sparkgap_world_set_algorithm(a.world, 31, "one-shot"); },
       {"collective", "31"}},
  };
}

std::vector<Misuse> misuses_of_the_heap() {
  return {
      {"put to PE 2 of 2", [](Arguments& a) { return sparkgap_put(a.world, a.buffer, 0, a.in, 8, 2); }, {"pe", "2"}},
      {"put to PE -1", [](Arguments& a) { return sparkgap_put(a.world, a.buffer, 0, a.in, 8, -1); }, {"pe", "-1"}},
      {"put past the end",
       [](Arguments& a) { return sparkgap_put(a.world, a.buffer, 4090, a.in, 8, 0); },
       {"4090", "8", "4096"}},
      {"put at an offset that overflows",
       [](Arguments& a) { return sparkgap_put(a.world, a.buffer, kHuge - 3, a.in, 8, 0); },
       {"18446744073709551612"}},
      {"put from NULL",
       [](Arguments& a) { return sparkgap_put(a.world, a.buffer, 0, nullptr, 8, 0); },
       {"src", "null"}},
      {"put to no buffer", [](Arguments& a) { return sparkgap_put(a.world, nullptr, 0, a.in, 8, 0); }, {"dst", "null"}},
      {"put to a buffer of another world",
       [](Arguments& a) { return sparkgap_put(a.world, a.foreign, 0, a.in, 8, 0); },
       {"dst", "world"}},
      {"get past the end",
       [](Arguments& a) { return sparkgap_get(a.world, a.out, a.buffer, 4097, 0, 0); },
       {"4097", "4096"}},
      {"get to NULL", [](Arguments& a) { return sparkgap_get(a.world, nullptr, a.buffer, 0, 8, 0); }, {"dst", "null"}},
      {"get from PE 5", [](Arguments& a) { return sparkgap_get(a.world, a.out, a.buffer, 0, 8, 5); }, {"pe", "5"}},
      {"get from a buffer of another world",
       [](Arguments& a) { return sparkgap_get(a.world, a.out, a.foreign, 0, 8, 0); },
       {"src", "world"}},
      {"putSignal with a signal that is not aligned",
       [](Arguments& a) {
         return sparkgap_put_signal(a.world, a.buffer, 0, a.in, 8, a.buffer, 12, 1, SPARKGAP_SIGNAL_SET, 0);
       },
       {"offset", "12"}},
      {"putSignal with a signal past the end",
       [](Arguments& a) {
         return sparkgap_put_signal(a.world, a.buffer, 0, a.in, 8, a.buffer, 4096, 1, SPARKGAP_SIGNAL_SET, 0);
       },
       {"4096"}},
      {"putSignal with operation 2",
       [](Arguments& a) { return sparkgap_put_signal(a.world, a.buffer, 0, a.in, 8, a.buffer, 8, 1, 2, 0); },
       {"signal operation", "2"}},
      {"signal to PE 9",
       [](Arguments& a) { return sparkgap_signal(a.world, a.buffer, 0, 1, SPARKGAP_SIGNAL_ADD, 9); },
       {"pe", "9"}},
      {"signal in no buffer",
       [](Arguments& a) { return sparkgap_signal(a.world, nullptr, 0, 1, SPARKGAP_SIGNAL_ADD, 0); },
       {"signal", "null"}},
      {"signal with operation -1",
       [](Arguments& a) { return sparkgap_signal(a.world, a.buffer, 0, 1, -1, 0); },
       {"signal operation", "-1"}},
      {"waitSignal with comparison 6",
       [](Arguments& a) { return sparkgap_wait_signal(a.world, a.buffer, 0, 6, 0, &a.word); },
       {"comparison", "6"}},
      {"waitSignal on a word that is not aligned",
       [](Arguments& a) { return sparkgap_wait_signal(a.world, a.buffer, 4, SPARKGAP_EQ, 0, &a.word); },
       {"offset", "4"}},
      {"waitSignal past the end",
       [](Arguments& a) { return sparkgap_wait_signal(a.world, a.buffer, 8192, SPARKGAP_EQ, 0, &a.word); },
       {"8192", "4096"}},
      {"fetchAdd on a word that is not aligned",
       [](Arguments& a) { return sparkgap_fetch_add(a.world, a.buffer, 2, 1, 0, &a.word); },
       {"offset", "2"}},
      {"fetchAdd on PE 3",
       [](Arguments& a) { return sparkgap_fetch_add(a.world, a.buffer, 0, 1, 3, &a.word); },
       {"pe", "3"}},
      {"allocate into nothing",
       [](Arguments& a) { return sparkgap_allocate(a.world, 8, nullptr); },
       {"buffer", "null"}},
      {"free of nothing", [](Arguments& a) { return sparkgap_free(a.world, nullptr); }, {"buffer", "null"}},
      {"free of a buffer of another world",
       [](Arguments& a) { return sparkgap_free(a.world, a.foreign); },
       {"buffer", "world"}},
      {"what kernels take of a world in host memory",
       [](Arguments& a) {
         sparkgap_device_world world;
         return sparkgap_world_device(a.world, &world);
       },
       {"GPUs", "host memory"}},
      {"what kernels take of a buffer in host memory",
       [](Arguments& a) {
         sparkgap_device_buffer buffer;
         return sparkgap_buffer_device(a.world, a.buffer, &buffer);
       },
       {"GPUs", "host memory"}},
      {"what kernels take of a buffer of another world",
       [](Arguments& a) {
         sparkgap_device_buffer buffer;
         return sparkgap_buffer_device(a.world, a.foreign, &buffer);
       },
       {"buffer", "world"}},
      {"connecting twice",
       [](Arguments& a) {
         const uint8_t id[SPARKGAP_WORLD_ID_BYTES] = {};
         return sparkgap_world_connect(a.world, id);
       },
       {"connect"}},
  };
}

// PE 1 makes all of its world's misuses, while PE 0 makes none and is not disturbed.
void all_are_refused(const std::vector<Misuse>& misuses) {
  run_pes({2}, [&](const Pe& pe) {
    Arguments arguments{};
    arguments.world = pe.world();
    arguments.buffer = pe.allocate(kBufferBytes);
    arguments.counts[0] = arguments.counts[1] = 4;
    arguments.offsets[1] = 8;
    run_pes({1, Placement::kThreads}, [&](const Pe& other) {
      arguments.foreign = other.allocate(kBufferBytes);
      for (const Misuse& misuse : misuses) {
        if (pe.pe() == 1) {
          const sparkgap_status status = misuse.call(arguments);
          const std::string error = sparkgap_last_error(pe.world());
          expect(status == SPARKGAP_INVALID_ARGUMENT, "%s gave status %d: %s", misuse.what, status, error.c_str());
          for (const char* name : misuse.named) {
            expect(error.find(name) != std::string::npos, "the error of %s does not say \"%s\": %s", misuse.what, name,
                   error.c_str());
          }
          pe.ok(sparkgap_world_health(pe.world()), misuse.what);
        }
        const float in = 1;
        float out = 0;
        pe.ok(sparkgap_all_reduce(pe.world(), &in, &out, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM), misuse.what);
        expect(out == 2, "after %s a sum is %f", misuse.what, static_cast<double>(out));
      }
    });
    const auto* memory = static_cast<const char*>(sparkgap_buffer_address(arguments.buffer));
    for (uint64_t i = 0; i < kBufferBytes; ++i) expect(memory[i] == 0, "a refused call wrote byte %" PRIu64, i);
    for (const float f : arguments.out) expect(f == 0, "a refused call wrote its output");
  });
}

void nothing_is_wrong_with_no_elements() {
  run_pes({2}, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    const uint64_t none[2] = {0, 0};
    pe.ok(sparkgap_all_reduce(world, nullptr, nullptr, 0, SPARKGAP_INT8, SPARKGAP_MAX), "allReduce of nothing");
    pe.ok(sparkgap_reduce_scatter(world, nullptr, nullptr, 0, SPARKGAP_INT8, SPARKGAP_MAX), "reduceScatter of nothing");
    pe.ok(sparkgap_all_gather(world, nullptr, nullptr, 0, SPARKGAP_INT8), "allGather of nothing");
    pe.ok(sparkgap_broadcast(world, nullptr, nullptr, 0, SPARKGAP_INT8, 1), "broadcast of nothing");
    pe.ok(sparkgap_reduce(world, nullptr, nullptr, 0, SPARKGAP_INT8, SPARKGAP_MAX, 1), "reduce of nothing");
    pe.ok(sparkgap_all_to_all(world, nullptr, nullptr, 0, SPARKGAP_INT8), "allToAll of nothing");
    pe.ok(sparkgap_all_to_allv(world, nullptr, none, none, nullptr, none, none, SPARKGAP_INT8), "allToAllv of nothing");
  });
}

struct BadOptions {
  const char* what;
  std::function<void(sparkgap_world_options&)> spoil;
  std::vector<sparkgap_status> statuses;
  std::vector<const char*> named;
};

void a_world_of_bad_options_is_refused() {
  const std::vector<BadOptions> all = {
      {"PE -1", [](sparkgap_world_options& o) { o.pe = -1; }, {SPARKGAP_INVALID_ARGUMENT}, {"pe", "-1"}},
      {"PE 2 of 2", [](sparkgap_world_options& o) { o.pe = 2; }, {SPARKGAP_INVALID_ARGUMENT}, {"pe", "2"}},
      {"no PEs", [](sparkgap_world_options& o) { o.pes = 0; }, {SPARKGAP_INVALID_ARGUMENT}, {"PEs", "0"}},
      {"257 PEs", [](sparkgap_world_options& o) { o.pes = 257; }, {SPARKGAP_INVALID_ARGUMENT}, {"PEs", "257", "256"}},
      {"no time for peers",
       [](sparkgap_world_options& o) { o.peer_timeout_ms = 0; },
       {SPARKGAP_INVALID_ARGUMENT},
       {"peer_timeout_ms", "0"}},
      {"-1 blocks for kernels",
       [](sparkgap_world_options& o) { o.kernel_max_blocks = -1; },
       {SPARKGAP_INVALID_ARGUMENT},
       {"kernel_max_blocks", "-1"}},
      {"a kernel that stays for -1 ms",
       [](sparkgap_world_options& o) { o.resident_idle_ms = -1; },
       {SPARKGAP_INVALID_ARGUMENT},
       {"resident_idle_ms", "-1"}},
      {"no provider",
       [](sparkgap_world_options& o) { o.provider = nullptr; },
       {SPARKGAP_INVALID_ARGUMENT, SPARKGAP_UNAVAILABLE},
       {"provider"}},
      {"an unknown provider",
       [](sparkgap_world_options& o) { o.provider = "pigeon"; },
       {SPARKGAP_INVALID_ARGUMENT, SPARKGAP_UNAVAILABLE},
       {"provider", "pigeon", "host"}},
      {"a directory that is not there",
       [](sparkgap_world_options& o) { o.host_directory = "/dev/shm/not-there"; },
       {SPARKGAP_INVALID_ARGUMENT, SPARKGAP_UNAVAILABLE},
       {"/dev/shm/not-there"}},
  };
  for (const BadOptions& bad : all) {
    sparkgap_world_options options{};
    options.pes = 2;
    options.epoch = 1;
    options.peer_timeout_ms = 1000;
    options.provider = "host";
    options.label = "test";
    bad.spoil(options);
    sparkgap_world* world = nullptr;
    const sparkgap_status status = sparkgap_world_create(&options, &world);
    expect(world != nullptr, "%s: there is no world to read the error from", bad.what);
    const std::string error = sparkgap_last_error(world);
    sparkgap_world_destroy(world);
    bool expected = false;
    for (const sparkgap_status one : bad.statuses) expected |= status == one;
    expect(expected, "%s gave status %d: %s", bad.what, status, error.c_str());
    for (const char* name : bad.named) {
      expect(error.find(name) != std::string::npos, "the error of %s does not say \"%s\": %s", bad.what, name,
             error.c_str());
    }
  }
  sparkgap_world_destroy(nullptr);
}

void calls_before_connect_are_refused() {
  sparkgap_world_options options{};
  options.pe = 1;
  options.pes = 2;
  options.epoch = 1;
  options.peer_timeout_ms = 1000;
  options.provider = "host";
  options.label = "test";
  sparkgap_world* world = nullptr;
  expect(sparkgap_world_create(&options, &world) == SPARKGAP_OK, "create: %s", sparkgap_last_error(world));
  uint8_t id[SPARKGAP_WORLD_ID_BYTES] = {};
  float value = 0;
  expect(sparkgap_world_id(world, id) == SPARKGAP_INVALID_ARGUMENT, "PE 1 has given a world id");
  expect(sparkgap_barrier(world) == SPARKGAP_INVALID_ARGUMENT, "a barrier before connect was not refused");
  expect(std::strstr(sparkgap_last_error(world), "connect") != nullptr, "the error does not say connect: %s",
         sparkgap_last_error(world));
  expect(sparkgap_all_reduce(world, &value, &value, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM) == SPARKGAP_INVALID_ARGUMENT,
         "an allReduce before connect was not refused");
  sparkgap_buffer* buffer = nullptr;
  expect(sparkgap_allocate(world, 8, &buffer) == SPARKGAP_INVALID_ARGUMENT,
         "an allocation before connect was not refused");
  sparkgap_world_destroy(world);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"misused_collectives_are_refused", [] { all_are_refused(misuses_of_collectives()); }},
                    {"misused_heap_calls_are_refused", [] { all_are_refused(misuses_of_the_heap()); }},
                    {"nothing_is_wrong_with_no_elements", nothing_is_wrong_with_no_elements},
                    {"a_world_of_bad_options_is_refused", a_world_of_bad_options_is_refused},
                    {"calls_before_connect_are_refused", calls_before_connect_are_refused}});
}
