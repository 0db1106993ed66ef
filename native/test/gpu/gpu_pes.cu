#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "gpu/gpu_pes.h"

namespace sparkgap::test {
namespace {

// Of the host memory that kernels see, one page for each PE.
constexpr size_t kHostPage = 4096;
constexpr size_t kRecordAt = 2048;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void cuda_ok(int status, const char* what) {
  expect(status == 0, "%s: %s (%s)", what, cudaGetErrorString(static_cast<cudaError_t>(status)),
         cudaGetErrorName(static_cast<cudaError_t>(status)));
}

GpuPe::GpuPe(int pe, int pes, Meeting& meeting, void* host_words) : meeting_(meeting) {
  cuda_ok(cudaGetDeviceCount(&gpus_), "cudaGetDeviceCount");
  cuda_ok(cudaSetDevice(pe % gpus_), "cudaSetDevice");
  cudaDeviceProp properties;
  cuda_ok(cudaGetDeviceProperties(&properties, pe % gpus_), "cudaGetDeviceProperties");
  cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");

  uint8_t* page = static_cast<uint8_t*>(host_words) + pe * kHostPage;
  cuda_ok(cudaHostRegister(page, kHostPage, cudaHostRegisterMapped), "cudaHostRegister");
  void* mapped = nullptr;
  cuda_ok(cudaHostGetDevicePointer(&mapped, page, 0), "cudaHostGetDevicePointer");
  abort_ = reinterpret_cast<volatile uint32_t*>(page);
  record_ = reinterpret_cast<volatile kernels::WaitRecord*>(page + kRecordAt);

  world.layout = SPARKGAP_DEVICE_LAYOUT;
  world.pe = pe;
  world.pes = pes;
  world.compute_major = properties.major;
  circumstances.pes = pes;
  circumstances.provider = ProviderKind::kNvshmem;
  circumstances.tuning = &kernels::tuning_for(properties.name, pes > gpus_);
  set_lanes(kernels::lanes_for(properties.multiProcessorCount, (pes + gpus_ - 1) / gpus_));
  world.routes = &routes;
  cuda_ok(kernels::prepare_kernels(), "prepare_kernels");
  cuda_ok(kernels::make_launch_cache(properties.major, &world.launches), "make_launch_cache");
  world.deadline_ns = kLongDeadlineNs;
  world.abort_word = static_cast<const uint32_t*>(mapped);
  world.record = reinterpret_cast<kernels::WaitRecord*>(static_cast<uint8_t*>(mapped) + kRecordAt);
  world.exchange_at = kernels::exchange_at(pes);
  scratch_ = allocate(kernels::scratch_bytes(pes));
  for (int i = 0; i < pes; ++i) world.scratch[i] = scratch_.parts[i];
}

void GpuPe::set_lanes(int32_t lanes) {
  world.lanes = lanes;
  circumstances.lanes = lanes;
  routes.make(circumstances);
}

void GpuPe::meet() {
  const int round = meeting_.round.load();
  if (meeting_.arrived.fetch_add(1) + 1 == pes()) {
    meeting_.arrived.store(0);
    meeting_.round.store(round + 1);
    return;
  }
  while (meeting_.round.load() == round) {
    if (meeting_.failed.load() != 0) throw Failure("another PE has failed");
    sched_yield();
  }
}

std::vector<uint64_t> GpuPe::exchange(uint64_t value) {
  meeting_.values[pe()] = value;
  meet();
  const std::vector<uint64_t> values(meeting_.values, meeting_.values + pes());
  meet();
  return values;
}

PeerMemory GpuPe::allocate(uint64_t bytes) {
  PeerMemory memory;
  memory.pe = pe();
  void* own = nullptr;
  cuda_ok(cudaMalloc(&own, bytes), "cudaMalloc");
  cuda_ok(cudaMemset(own, 0, bytes), "cudaMemset");
  cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  cuda_ok(cudaIpcGetMemHandle(&meeting_.handles[pe()], own), "cudaIpcGetMemHandle");
  meet();
  for (int i = 0; i < pes(); ++i) {
    void* part = own;
    if (i != pe()) {
      cuda_ok(cudaIpcOpenMemHandle(&part, meeting_.handles[i], cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
    }
    memory.parts[i] = static_cast<uint8_t*>(part);
  }
  meet();
  return memory;
}

void GpuPe::launch(const kernels::KernelCall& call) { cuda_ok(kernels::launch(world, stream, call), "launch"); }

void GpuPe::expect_no_failure(const char* what) const {
  expect(record_->end == 0, "%s: a wait gave up (end %u, collective %d, peer %d, lane %d, expected %lu, seen %lu)",
         what, record_->end, record_->collective, record_->peer, record_->lane, record_->expected, record_->seen);
}

void GpuPe::synchronize() { cuda_ok(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

void GpuPe::reset(uint64_t deadline_ns) {
  synchronize();
  meet();
  cuda_ok(cudaMemset(scratch_.own(), 0, kernels::scratch_bytes(pes())), "cudaMemset");
  cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  *abort_ = 0;
  record_->end = 0;
  record_->peer = -1;
  record_->collective = -1;
  world.deadline_ns = deadline_ns;
  meet();
}

void run_gpu_pes(int pes, double deadline_seconds, const std::function<void(GpuPe&)>& body) {
  const Shared<Meeting> meeting;
  const Shared<uint8_t> host_words(kernels::kMaxPes * kHostPage);
  std::vector<pid_t> processes;
  for (int pe = 0; pe < pes; ++pe) {
    std::fflush(nullptr);
    const pid_t process = fork();
    expect(process >= 0, "fork failed");
    if (process > 0) {
      processes.push_back(process);
      continue;
    }
    int code = 0;
    try {
      GpuPe own(pe, pes, *meeting.operator->(), &host_words[0]);
      body(own);
      own.meet();
    } catch (const std::exception& e) {
      code = 1;
      meeting->failed.fetch_add(1);
      std::snprintf(meeting->failures[pe], sizeof meeting->failures[pe], "%s", e.what());
    }
    std::fflush(nullptr);
    _exit(code);
  }
  const double end = now() + deadline_seconds;
  size_t left = processes.size();
  bool late = false;
  while (left > 0) {
    for (int pe = 0; pe < pes; ++pe) {
      pid_t& process = processes[pe];
      int status = 0;
      if (process == 0 || waitpid(process, &status, WNOHANG) != process) continue;
      process = 0;
      --left;
      if (!WIFSIGNALED(status) || late) continue;
      meeting->failed.fetch_add(1);
      std::snprintf(meeting->failures[pe], sizeof meeting->failures[pe], "died of signal %d", WTERMSIG(status));
    }
    if (now() > end && !late) {
      late = true;
      for (const pid_t process : processes) {
        if (process != 0) kill(process, SIGKILL);
      }
    }
    usleep(500);
  }
  std::string failures;
  for (int pe = 0; pe < pes; ++pe) {
    if (meeting->failures[pe][0] == '\0') continue;
    failures += (failures.empty() ? "PE " : "\n     PE ") + std::to_string(pe) + ": " + meeting->failures[pe];
  }
  expect(failures.empty(), "%s", failures.c_str());
  expect(!late, "%d PEs did not end within %.0f s", pes, deadline_seconds);
}

std::vector<int> pes_to_test() {
  const char* text = std::getenv("SPARKGAP_TEST_PES");
  if (text == nullptr) return {1, 2};
  std::vector<int> numbers;
  for (const char* at = text; *at != '\0';) {
    char* end = nullptr;
    const long number = std::strtol(at, &end, 10);
    expect(end != at && number >= 1 && number <= kernels::kMaxPes, "SPARKGAP_TEST_PES=%s is not a list like 1,2,4",
           text);
    numbers.push_back(static_cast<int>(number));
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

}  // namespace sparkgap::test
