#include "device/gpu_world.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/library.h"
#include "protocol/abort.h"
#include "protocol/call.h"

namespace sparkgap {

// A symmetric buffer's memory. When the buffer goes, it is put aside until all PEs have freed theirs.
class GpuMemory final : public SymmetricMemory {
 public:
  GpuMemory(GpuWorld& world, std::unique_ptr<DeviceMemory> memory) : world_(world), memory_(std::move(memory)) {}
  ~GpuMemory() override { world_.retire(std::move(memory_)); }
  uint8_t* part(int32_t pe) const override { return memory_->part(pe); }

 private:
  GpuWorld& world_;
  std::unique_ptr<DeviceMemory> memory_;
};

namespace {

// How long one look at the GPU may take before this PE looks at its peers.
constexpr int64_t kPollUs = 10000;

constexpr size_t kMessageBytes = 1024;

// What PEs tell each other about a step that counts only if all succeed.
struct Outcome {
  int32_t status;
  char message[kMessageBytes];
  DeviceOffer offer;
  uint64_t retirements;
};

int64_t now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}

// Every PE's `mine`, in PE order.
template <class Item>
std::vector<Item> exchange(Steps& steps, int32_t pe, int32_t pes, const Item& mine) {
  std::vector<Item> all(static_cast<size_t>(pes));
  steps.begin();
  std::memcpy(steps.slot(pe), &mine, sizeof mine);
  steps.post();
  steps.wait_for_all();
  for (int32_t other = 0; other < pes; ++other) {
    std::memcpy(&all[static_cast<size_t>(other)], steps.slot(other), sizeof mine);
  }
  return all;
}

uint64_t token(const ControlHeader& header, int32_t from, int32_t to) {
  return (header.key[0] ^ (static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to))) * 0x9e3779b97f4a7c15u +
         header.key[1];
}

std::string version_text(const DeviceCard& card) {
  const int32_t version = card.library_version;
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

const char* activity_of(const kernels::WaitRecord& record) {
  return record.collective == kWaitSignal ? "waitSignal" : operation_name(record.collective);
}

}  // namespace

GpuWorld::GpuWorld(const WorldOptions& options) : options_(options) {
  if (options.pes > kernels::kMaxPes) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "a world of GPUs has at most %d PEs, not %d: all are on one host",
         kernels::kMaxPes, options.pes);
  }
  const bool nvshmem = options.provider == "nvshmem";
  DeviceWorldOptions device = {};
  device.pe = options.pe;
  device.pes = options.pes;
  device.epoch = options.epoch;
  device.peer_timeout_ms = options.peer_timeout_ms;
  device.device = options.device;
  device.provider = nvshmem ? "nvshmem" : "nccl";
  device.library = (nvshmem ? options.nvshmem_library : options.nccl_library).c_str();
  Failure failure;
  if (device_library().make_world(device, &device_, &failure) != SPARKGAP_OK) throw failure;
}

GpuWorld::~GpuWorld() { leave(); }

void GpuWorld::connect(const Control& control, Steps& steps, Waiter& waiter) {
  control_ = control;
  steps_ = &steps;
  waiter_ = &waiter;
  exchange_cards();
  check_cards();
  start_provider();
  for (bool done = false; !done;) {
    try {
      scratch_ = allocate_together(device_->scratch_bytes());
      if (scratch_->part(options_.pe == 0 ? options_.pes - 1 : 0) != nullptr) verify_puts();
      done = true;
    } catch (const Failure&) {
      if (is_aborted(control_) || !device_->fall_back()) throw;
    }
  }
  agree(device_->use_scratch(*scratch_, cards_.data(), &failure_), "setting up the kernels");
  find_links();
}

void GpuWorld::exchange_cards() {
  DeviceCard mine = {};
  const sparkgap_status status = device_->card(&mine, &failure_);
  agree(status, "getting ready");
  cards_ = exchange(*steps_, options_.pe, options_.pes, mine);
}

// All PEs see the same cards, so all fail alike and nobody waits for the others.
void GpuWorld::check_cards() const {
  for (int32_t pe = 0; pe < options_.pes; ++pe) {
    const DeviceCard& card = cards_[static_cast<size_t>(pe)];
    const DeviceCard& first = cards_[0];
    if (std::strcmp(card.provider, first.provider) != 0) {
      fail(SPARKGAP_INVALID_ARGUMENT, pe, "PE 0 has provider %s, PE %d %s: all PEs of a world must have the same",
           first.provider, pe, card.provider);
    }
    if (card.library_version != first.library_version) {
      fail(SPARKGAP_UNAVAILABLE, pe,
           "PE 0 (%s) has %s %s from %s, PE %d (%s) has %s from %s: use one version everywhere "
           "(spark.sparkgap.%s.library)",
           control_.record(0).label, first.provider, version_text(first).c_str(), first.library, pe,
           control_.record(pe).label, version_text(card).c_str(), card.library, first.provider);
    }
    for (int32_t other = 0; other < pe; ++other) {
      if (std::strcmp(card.uuid, cards_[static_cast<size_t>(other)].uuid) != 0) continue;
      const bool nccl = std::strcmp(card.provider, "nccl") == 0;
      if (options_.device_shared && !nccl) continue;
      fail(SPARKGAP_UNAVAILABLE, pe, "PE %d (%s) and PE %d (%s) are on one GPU, %s %s (%s). %s", other,
           control_.record(other).label, pe, control_.record(pe).label, card.name, card.pci, card.uuid,
           nccl ? "NCCL cannot have two PEs on one GPU: give each executor a GPU of its own "
                  "(spark.executor.resource.gpu.amount=1 and a discovery script that gives each another address), or "
                  "use spark.sparkgap.provider=nvshmem with MPS"
                : "Give each executor a GPU of its own (spark.executor.resource.gpu.amount=1 and a discovery script "
                  "that gives each another address); if they are to share it, start MPS and set "
                  "spark.sparkgap.device.shared=true");
    }
  }
}

void GpuWorld::start_provider() {
  WaitOptions wait = waiter_->options();
  watcher_.emplace(
      control_, [this](Waiter& waiter) { look_at_kernels(waiter); }, [this] { device_->abort(); }, options_.pe, wait);
  const DeviceControl control = {&control_.header(), sizeof(ControlHeader), &control_.header().abort_state};
  // The others would wait for a PE that fails here, so it ends the world for them.
  check(device_->start(cards_.data(), control, &failure_));
  started_ = true;
  steps_->meet();
  all_started_ = true;
}

// Each PE writes a word into every other's memory by the way that the kernels will take, and looks for theirs.
void GpuWorld::verify_puts() {
  const size_t pes = static_cast<size_t>(options_.pes);
  std::vector<uint64_t> words(pes);
  const auto scratch_word = [this](int32_t pe, int32_t from) {
    return scratch_->part(pe) + static_cast<size_t>(from) * sizeof(uint64_t);
  };
  for (int32_t to = 0; to < options_.pes; ++to) {
    words[static_cast<size_t>(to)] = token(control_.header(), options_.pe, to);
    copy(scratch_word(to, options_.pe), &words[static_cast<size_t>(to)], sizeof(uint64_t));
  }
  wait();
  steps_->meet();
  copy(words.data(), scratch_word(options_.pe, 0), pes * sizeof(uint64_t));
  sparkgap_status status = SPARKGAP_OK;
  for (int32_t from = 0; from < options_.pes && status == SPARKGAP_OK; ++from) {
    if (words[static_cast<size_t>(from)] == token(control_.header(), from, options_.pe)) continue;
    status = SPARKGAP_UNAVAILABLE;
    Text(failure_.message, sizeof failure_.message)
        .add(
            "what PE %d (%s) puts into the GPU memory of this PE does not arrive, though the driver has mapped it: "
            "their GPUs (%s and %s) cannot reach each other. Look at `nvidia-smi topo -p2p w`, and whether an IOMMU "
            "stands between them",
            from, control_.record(from).label, cards_[static_cast<size_t>(from)].pci,
            cards_[static_cast<size_t>(options_.pe)].pci);
  }
  std::fill(words.begin(), words.end(), 0);
  copy(scratch_word(options_.pe, 0), words.data(), pes * sizeof(uint64_t));
  wait();
  agree(status, "verifying puts");
}

void GpuWorld::find_links() {
  LinkRow mine = {};
  device_->find_links(cards_.data(), &mine);
  links_ = Links(exchange(*steps_, options_.pe, options_.pes, mine));
}

void GpuWorld::describe(Text& text) const {
  device_->describe(text);
  links_.describe(text);
}

// Throws the first PE's failure, on all PEs alike, unless all have succeeded.
void GpuWorld::agree(sparkgap_status status, const char* what) {
  Outcome mine = {};
  mine.status = status;
  if (status != SPARKGAP_OK) std::memcpy(mine.message, failure_.message, sizeof mine.message - 1);
  const std::vector<Outcome> all = exchange(*steps_, options_.pe, options_.pes, mine);
  for (int32_t pe = 0; pe < options_.pes; ++pe) {
    const Outcome& outcome = all[static_cast<size_t>(pe)];
    if (outcome.status == SPARKGAP_OK) continue;
    // What is only so in that PE's process is no reason for others to be replaced.
    const bool theirs = outcome.status == SPARKGAP_DEVICE_FAILED && pe != options_.pe;
    fail(theirs ? SPARKGAP_UNAVAILABLE : outcome.status, pe, "PE %d (%s), %s %s: %s", pe, control_.record(pe).label,
         what, options_.provider.c_str(), outcome.message);
  }
}

std::unique_ptr<SymmetricMemory> GpuWorld::allocate(uint64_t bytes) {
  free_retired_together();
  return std::make_unique<GpuMemory>(*this, allocate_together(bytes));
}

std::unique_ptr<DeviceMemory> GpuWorld::allocate_together(uint64_t bytes) {
  // Before the providers are in it together, where one without memory would leave the others waiting.
  agree(device_->check_room(bytes, &failure_), "allocating memory of");
  Outcome mine = {};
  DeviceMemory* made = nullptr;
  mine.status = device_->allocate(bytes, &made, &mine.offer, &failure_);
  std::unique_ptr<DeviceMemory> memory(made);
  const std::vector<Outcome> all = exchange(*steps_, options_.pe, options_.pes, mine);
  agree(mine.status, "allocating memory of");
  std::vector<DeviceOffer> offers(all.size());
  for (size_t pe = 0; pe < all.size(); ++pe) offers[pe] = all[pe].offer;
  agree(memory->attach(offers.data(), &failure_), "reaching the GPU memory of the other PEs with");
  return memory;
}

void GpuWorld::free_retired_together() {
  const std::vector<uint64_t> all = exchange(*steps_, options_.pe, options_.pes, retirements_);
  const uint64_t common = *std::min_element(all.begin(), all.end());
  if (common == freed_) return;
  // A kernel of this PE may still use what it has freed; once all PEs have waited, none does.
  wait();
  steps_->meet();
  for (; freed_ < common; ++freed_) {
    const std::unique_ptr<DeviceMemory> memory = std::move(retired_.front());
    retired_.erase(retired_.begin());
    if (memory != nullptr) check(memory->free_together(&failure_));
  }
}

void GpuWorld::retire(std::unique_ptr<DeviceMemory> memory) {
  retired_.push_back(std::move(memory));
  ++retirements_;
}

void GpuWorld::collective(kernels::KernelCall& call) {
  bool unfinished = false;
  check(device_->collective(call, &unfinished, &failure_));
  if (!unfinished) return;
  wait();
  check(device_->finish(&failure_));
}

void GpuWorld::copy(void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) return;
  bool unfinished = false;
  check(device_->copy(to, from, bytes, &unfinished, &failure_));
  if (unfinished) wait();
}

void GpuWorld::signal(int64_t* word, int64_t value, int32_t signal_op) {
  check(device_->signal(word, value, signal_op, &failure_));
}

void GpuWorld::wait_signal(const int64_t* word, int32_t comparison, int64_t value, int64_t* observed) {
  check(device_->wait_signal(word, comparison, value, &failure_));
  if (observed == nullptr) return;
  wait();
  *observed = device_->fetched();
}

void GpuWorld::fetch_add(int64_t* word, int64_t delta, int64_t* before) {
  check(device_->fetch_add(word, delta, &failure_));
  if (before == nullptr) return;
  wait();
  *before = device_->fetched();
}

void GpuWorld::wait() {
  wait_until_done([this] { return device_->poll(kPollUs, &failure_); });
}

void GpuWorld::wait(DeviceEvent& event) {
  wait_until_done([this, &event] { return device_->poll(event, kPollUs, &failure_); });
}

template <class Poll>
void GpuWorld::wait_until_done(const Poll& poll) {
  sparkgap_status status = poll();
  if (__builtin_expect(status == SPARKGAP_TIMED_OUT, 0)) {
    const int64_t start = now_us() - kPollUs;
    do {
      look_around(now_us() - start);
      status = poll();
    } while (status == SPARKGAP_TIMED_OUT);
  }
  check(status);
  // A kernel that gave up has ended, like one that succeeded.
  if (__builtin_expect(load_acquire(&device_->wait_record().end) != 0, 0)) fail_call(SPARKGAP_ABORTED);
}

DeviceEvent* GpuWorld::make_event() {
  DeviceEvent* event = nullptr;
  check(device_->make_event(&event, &failure_));
  return event;
}

double GpuWorld::elapsed_us(DeviceEvent& start, DeviceEvent& end) {
  double microseconds = 0;
  check(device_->elapsed_us(start, end, &microseconds, &failure_));
  return microseconds;
}

// What lasts is looked at every 10 ms: the same that a wait on the host looks at.
void GpuWorld::look_around(int64_t waited_us) {
  look_at_kernels(*waiter_);
  if (!is_aborted(control_)) {
    for (int32_t peer = 0; peer < options_.pes; ++peer) waiter_->check_alive(peer, true);
  }
  // The kernels' own deadline, which names the PE and the slot, comes first; NCCL's kernels and the user's have none.
  if (waited_us < (options_.peer_timeout_ms + 2000) * 1000) return;
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  Text text(failure.message, sizeof failure.message);
  text.add("what PE %d (%s, epoch %llu) has enqueued, up to ", options_.pe, options_.label.c_str(),
           static_cast<unsigned long long>(options_.epoch));
  const CallLine& own = control_.call_line(options_.pe);
  describe_call(text, own.begun, own.signature[own.begun % kCallsKept]);
  text.add(", was not done");
  waiter_->describe_lateness(text, kNoPe, waited_us);
  give_up(failure);
}

// What a kernel of this PE has left, told to the other PEs. On the owner's thread or the watcher's.
void GpuWorld::look_at_kernels(Waiter& waiter) {
  const kernels::WaitRecord& record = device_->wait_record();
  const auto end = static_cast<kernels::WaitEnd>(load_acquire(&record.end));
  if (end == kernels::WaitEnd::kNone || end == kernels::WaitEnd::kAborted || is_aborted(control_)) return;
  if (record.peer >= 0 && record.peer < options_.pes) waiter.compare_calls(record.peer);
  Failure failure;
  failure.pe = record.peer;
  Text text(failure.message, sizeof failure.message);
  if (end == kernels::WaitEnd::kCountsDisagree) {
    failure.status = SPARKGAP_MISMATCH;
    text.add("allToAllv: PE %d (%s) sends %llu bytes to PE %d (%s), which expects %llu", record.peer,
             control_.record(record.peer).label, static_cast<unsigned long long>(record.seen), options_.pe,
             options_.label.c_str(), static_cast<unsigned long long>(record.expected));
  } else if (end == kernels::WaitEnd::kCallsDiffer) {
    failure.status = SPARKGAP_MISMATCH;
    text.add(
        "%s on the GPU of PE %d (%s): PE %d (%s) has made another call in its place. All PEs must make the same calls "
        "in the same order, with the same type, operation, root and count",
        activity_of(record), options_.pe, options_.label.c_str(), record.peer, control_.record(record.peer).label);
  } else {
    failure.status = SPARKGAP_TIMED_OUT;
    text.add("%s on the GPU of PE %d (%s, epoch %llu), in slot %d (number %llu, found %llu),", activity_of(record),
             options_.pe, options_.label.c_str(), static_cast<unsigned long long>(options_.epoch), record.lane,
             static_cast<unsigned long long>(record.expected), static_cast<unsigned long long>(record.seen));
    waiter.describe_lateness(text, record.peer, options_.peer_timeout_ms * 1000);
  }
  abort_world(control_, options_.pe, failure);
}

void GpuWorld::fail_call(sparkgap_status status) {
  if (status == SPARKGAP_INVALID_ARGUMENT) throw failure_;
  if (status == SPARKGAP_DEVICE_FAILED) {
    device_failure_ = failure_;
    Failure others = failure_;
    others.status = SPARKGAP_PEER_LOST;
    others.pe = options_.pe;
    abort_world(control_, options_.pe, others);
    throw device_failure_;
  }
  look_at_kernels(*waiter_);
  give_up(failure_);
}

void GpuWorld::give_up(const Failure& failure) {
  abort_world(control_, options_.pe, failure);
  fail_as_aborted(control_, options_.pe);
}

void GpuWorld::check_device() const {
  if (device_failure_.status != SPARKGAP_OK) throw device_failure_;
}

bool GpuWorld::leave() {
  if (device_ == nullptr) return true;
  // Kernels of this PE use the memory of others, so it says that it has left only once they are done.
  const bool left = !started_ || wait_until_done_here();
  bool unused = left;
  bool lost = false;
  if (left && control_) {
    store_release(&control_.record(options_.pe).state, kLeft);
    wake_sleepers(control_.header());
  }
  if (started_) unused = unused && wait_for_others_to_leave(&lost);
  watcher_.reset();
  if (unused) {
    retired_.clear();
    scratch_.reset();
  } else {
    // A kernel of some PE may still use this memory. It stays, with what belongs to it, until the process ends.
    for (std::unique_ptr<DeviceMemory>& memory : retired_) static_cast<void>(memory.release());
    static_cast<void>(scratch_.release());
  }
  char reason[kMessageBytes];
  Text(reason, sizeof reason)
      .add("the world of epoch %llu in this process %s", static_cast<unsigned long long>(options_.epoch),
           lost ? "lost a PE" : "ended without all of its PEs");
  device_->stop(unused && all_started_ && !lost, reason);
  if (unused) {
    delete device_;
  } else {
    device_->abandon(reason);
  }
  device_ = nullptr;
  return left;
}

bool GpuWorld::wait_until_done_here() {
  const int64_t deadline = now_us() + options_.peer_timeout_ms * 1000;
  sparkgap_status status;
  do {
    status = device_->poll(kPollUs, &failure_);
  } while (status == SPARKGAP_TIMED_OUT && now_us() < deadline);
  return status == SPARKGAP_OK;
}

// True once every other PE has left or its process has ended; false if one does not come in time.
bool GpuWorld::wait_for_others_to_leave(bool* lost) {
  const int64_t deadline = now_us() + options_.peer_timeout_ms * 1000;
  for (;;) {
    bool all = true;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      if (load_acquire(&control_.record(pe).state) == kLeft) continue;
      if (waiter_->has_ended(pe)) {
        *lost = true;
      } else {
        all = false;
      }
    }
    if (all) return true;
    if (now_us() >= deadline) return false;
    const timespec pause = {0, 200000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace sparkgap
