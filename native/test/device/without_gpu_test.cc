// What is said where there is nothing to be found: no GPU code in the build, or no driver. Both builds run this.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

std::string folder_of_the_library() {
  Dl_info info = {};
  dladdr(reinterpret_cast<const void*>(&sparkgap_abi_version), &info);
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

void expect_parts(const char* message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    expect(std::strstr(message, part.c_str()) != nullptr, "\"%s\" is not in: %s", part.c_str(), message);
  }
}

// Depends on the build and the machine; each says what was looked for, and where.
std::vector<std::string> what_is_missing() {
  const std::string gpu_library = folder_of_the_library() + "libsparkgap_cuda.so";
  if (dlopen(gpu_library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return {"no GPU code", gpu_library, "-Pcuda", "spark.sparkgap.provider=host"};
  }
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return {"no NVIDIA driver", "libcuda.so.1", "--gpus all"};
  }
  return {};
}

void no_device_can_be_opened() {
  char message[2000];
  sparkgap_device_info info;
  const sparkgap_status status = sparkgap_device_open(0, &info, message, sizeof message);
  expect(status == SPARKGAP_UNAVAILABLE, "status %d: %s", status, message);
  expect_parts(message, what_is_missing());
  expect(info.name[0] == '\0' && info.memory_bytes == 0, "a GPU was filled in");
}

void no_gpu_provider_can_serve() {
  for (const char* provider : {"nvshmem", "nccl"}) {
    char message[2000];
    const sparkgap_status status = sparkgap_provider_probe(provider, "", message, sizeof message);
    expect(status == SPARKGAP_UNAVAILABLE, "%s: status %d: %s", provider, status, message);
    expect_parts(message, what_is_missing());
  }
}

void the_host_provider_always_can() {
  char message[200];
  expect(sparkgap_provider_probe("host", nullptr, message, sizeof message) == SPARKGAP_OK, "%s", message);
}

void an_unknown_provider_is_told_from_a_missing_one() {
  char message[200];
  expect(sparkgap_provider_probe("mpi", "", message, sizeof message) == SPARKGAP_UNAVAILABLE, "%s", message);
  expect_parts(message, {"\"mpi\"", "host, nvshmem, nccl"});
  expect(sparkgap_provider_probe(nullptr, "", message, sizeof message) == SPARKGAP_INVALID_ARGUMENT, "%s", message);
}

void a_message_is_cut_at_its_end() {
  char message[16];
  std::memset(message, 'x', sizeof message);
  sparkgap_provider_probe("mpi", "", message, 8);
  expect(std::strlen(message) == 7 && message[8] == 'x', "7 bytes and an end were to be written: %s", message);
  expect(sparkgap_provider_probe("mpi", "", nullptr, 0) == SPARKGAP_UNAVAILABLE, "a message is not necessary");
}

sparkgap_world_options options_of(const char* provider, int32_t device) {
  sparkgap_world_options options{};
  options.pe = 0;
  options.pes = 2;
  options.epoch = 1;
  options.peer_timeout_ms = 500;
  options.provider = provider;
  options.label = "test PE 0";
  options.device = device;
  return options;
}

void a_gpu_world_cannot_be_made() {
  for (const char* provider : {"nvshmem", "nccl"}) {
    sparkgap_world* world = nullptr;
    const sparkgap_world_options options = options_of(provider, 0);
    const sparkgap_status status = sparkgap_world_create(&options, &world);
    expect_failure(world, status, SPARKGAP_UNAVAILABLE, what_is_missing());
    uint8_t id[SPARKGAP_WORLD_ID_BYTES];
    expect(sparkgap_world_id(world, id) == SPARKGAP_INVALID_ARGUMENT, "a world that was not created has an id");
    sparkgap_world_destroy(world);
  }
}

void a_gpu_world_needs_a_device() {
  sparkgap_world* world = nullptr;
  const sparkgap_world_options options = options_of("nccl", -1);
  expect(sparkgap_world_create(&options, &world) == SPARKGAP_INVALID_ARGUMENT, "device -1 was taken");
  expect_parts(sparkgap_last_error(world), {"nccl needs a GPU", "-1"});
  sparkgap_world_destroy(world);
}

void a_gpu_world_has_a_most_of_pes() {
  sparkgap_world* world = nullptr;
  sparkgap_world_options options = options_of("nccl", 0);
  options.pes = 100;
  expect(sparkgap_world_create(&options, &world) == SPARKGAP_UNAVAILABLE, "100 GPUs on a node were taken");
  expect_parts(sparkgap_last_error(world), {"at most", "100", "on a node"});
  sparkgap_world_destroy(world);
}

void a_world_of_nvshmem_is_on_one_node() {
  sparkgap_world* world = nullptr;
  sparkgap_world_options options = options_of("nvshmem", 0);
  options.node_pes = 1;
  expect(sparkgap_world_create(&options, &world) == SPARKGAP_UNAVAILABLE, "NVSHMEM between nodes was taken");
  expect_parts(sparkgap_last_error(world), {"nvshmem", "one node", "RDMA", "spark.sparkgap.provider=nccl"});
  sparkgap_world_destroy(world);
}

void pes_of_a_host_world_share_memory() {
  run_pes({2}, [](const Pe& pe) {
    expect(sparkgap_world_link(pe.world(), 0, 1) == SPARKGAP_LINK_SHM, "link %d",
           sparkgap_world_link(pe.world(), 0, 1));
    expect(sparkgap_world_link(pe.world(), 0, 2) == -1, "there is no PE 2");
    expect(sparkgap_world_link(nullptr, 0, 1) == -1, "there is no world");
  });
}

void a_host_world_has_no_streams_and_events() {
  run_pes({1}, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    sparkgap_event* event = reinterpret_cast<sparkgap_event*>(&world);
    const std::vector<std::string> why = {"host world", "done when they return"};
    expect_failure(world, sparkgap_world_set_stream(world, nullptr), SPARKGAP_INVALID_ARGUMENT, why);
    expect_failure(world, sparkgap_event_create(world, &event), SPARKGAP_INVALID_ARGUMENT, why);
    expect(event == nullptr, "an event was made");
    expect_failure(world, sparkgap_event_record(world, nullptr), SPARKGAP_INVALID_ARGUMENT, why);
    expect(sparkgap_world_stream(world) == nullptr, "a host world has a stream");
    expect(sparkgap_world_memory_is_device(world) == 0, "a host world's memory is a GPU's");
    sparkgap_event_destroy(nullptr);
  });
}

void the_interface_has_the_number_of_its_header() {
  expect(sparkgap_abi_version() == SPARKGAP_ABI_VERSION && SPARKGAP_ABI_VERSION == 11, "ABI %d, header %d",
         sparkgap_abi_version(), SPARKGAP_ABI_VERSION);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  const std::vector<Test> always = {
      {"the_host_provider_always_can", the_host_provider_always_can},
      {"an_unknown_provider_is_told_from_a_missing_one", an_unknown_provider_is_told_from_a_missing_one},
      {"a_message_is_cut_at_its_end", a_message_is_cut_at_its_end},
      {"a_gpu_world_needs_a_device", a_gpu_world_needs_a_device},
      {"a_gpu_world_has_a_most_of_pes", a_gpu_world_has_a_most_of_pes},
      {"a_world_of_nvshmem_is_on_one_node", a_world_of_nvshmem_is_on_one_node},
      {"pes_of_a_host_world_share_memory", pes_of_a_host_world_share_memory},
      {"a_host_world_has_no_streams_and_events", a_host_world_has_no_streams_and_events},
      {"the_interface_has_the_number_of_its_header", the_interface_has_the_number_of_its_header},
  };
  std::vector<Test> tests = always;
  if (!what_is_missing().empty()) {
    tests.push_back({"no_device_can_be_opened", no_device_can_be_opened});
    tests.push_back({"no_gpu_provider_can_serve", no_gpu_provider_can_serve});
    tests.push_back({"a_gpu_world_cannot_be_made", a_gpu_world_cannot_be_made});
  } else {
    std::printf("There is a GPU here: what is said without one is not tested\n");
  }
  return run_tests(argc, argv, tests);
}
