// How a GPU world comes about: cards, the provider, the first memory, a verified put from each to each, links.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/device/device_engine.h"
#include "engine/device/library.h"
#include "protocol/abort.h"
#include "protocol/agreement.h"

namespace sparkgap {
namespace {

std::string version_text(const DeviceCard& card) {
  const int32_t version = card.library_version;
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

bool share_a_gpu(const std::vector<DeviceCard>& cards) {
  for (const DeviceCard& card : cards) {
    const auto same = [&card](const DeviceCard& other) { return std::strcmp(other.uuid, card.uuid) == 0; };
    if (std::count_if(cards.begin(), cards.end(), same) > 1) return true;
  }
  return false;
}

}  // namespace

DeviceEngine::DeviceEngine(const WorldOptions& options) : options_(options) {
  if (options.device < 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "provider %s needs a GPU, but device is %d", options.provider.c_str(),
         options.device);
  }
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
  device.max_blocks = options.kernel_max_blocks;
  device.provider = nvshmem ? "nvshmem" : "nccl";
  device.library = (nvshmem ? options.nvshmem_library : options.nccl_library).c_str();
  Failure failure;
  if (device_library().make_world(device, &device_, &failure) != SPARKGAP_OK) throw failure;
}

void DeviceEngine::connect(Node& node, Circumstances* circumstances) {
  node_ = &node;
  const std::vector<DeviceCard> cards = exchange_cards();
  check_cards(cards);
  start_provider(cards);
  for (bool done = false; !done;) {
    try {
      scratch_ = allocate_together(device_->scratch_bytes());
      if (scratch_->part(options_.pe == 0 ? options_.pes - 1 : 0) != nullptr) verify_puts(cards);
      done = true;
    } catch (const Failure&) {
      if (is_aborted(node_->control()) || !device_->fall_back()) throw;
    }
  }
  agree(device_->use_scratch(*scratch_, cards.data(), &failure_), "setting up the kernels");
  LinkRow mine = {};
  device_->find_links(cards.data(), &mine);
  std::copy(std::begin(mine.lacks_atomics), std::end(mine.lacks_atomics), lacks_atomics_);
  links_ = Links(exchange(*node_, mine));
  circumstances->lanes = device_->lanes();
  circumstances->pcie = links_.has(SPARKGAP_LINK_PCIE);
  circumstances->tuning = &kernels::tuning_for(cards[0].name, share_a_gpu(cards));
}

std::vector<DeviceCard> DeviceEngine::exchange_cards() {
  DeviceCard mine = {};
  agree(device_->card(&mine, &failure_), "getting ready");
  return exchange(*node_, mine);
}

// All PEs see the same cards, so all fail alike and nobody waits for the others.
void DeviceEngine::check_cards(const std::vector<DeviceCard>& cards) const {
  for (int32_t pe = 0; pe < options_.pes; ++pe) {
    const DeviceCard& card = cards[static_cast<size_t>(pe)];
    const DeviceCard& first = cards[0];
    if (std::strcmp(card.provider, first.provider) != 0) {
      fail(SPARKGAP_INVALID_ARGUMENT, pe, "PE 0 has provider %s, PE %d %s: all PEs of a world must have the same",
           first.provider, pe, card.provider);
    }
    if (card.max_blocks != first.max_blocks) {
      fail(SPARKGAP_INVALID_ARGUMENT, pe,
           "PE 0 has at most %d blocks for a kernel, PE %d %d: all PEs of a world must have the same "
           "(spark.sparkgap.kernel.max.blocks)",
           first.max_blocks, pe, card.max_blocks);
    }
    if (card.library_version != first.library_version) {
      fail(SPARKGAP_UNAVAILABLE, pe,
           "PE 0 (%s) has %s %s from %s, PE %d (%s) has %s from %s: use one version everywhere "
           "(spark.sparkgap.%s.library)",
           node_->label(0).c_str(), first.provider, version_text(first).c_str(), first.library, pe,
           node_->label(pe).c_str(), version_text(card).c_str(), card.library, first.provider);
    }
    for (int32_t other = 0; other < pe; ++other) {
      if (std::strcmp(card.uuid, cards[static_cast<size_t>(other)].uuid) != 0) continue;
      const bool nccl = std::strcmp(card.provider, "nccl") == 0;
      if (options_.device_shared && !nccl) continue;
      fail(SPARKGAP_UNAVAILABLE, pe, "PE %d (%s) and PE %d (%s) are on one GPU, %s %s (%s). %s", other,
           node_->label(other).c_str(), pe, node_->label(pe).c_str(), card.name, card.pci, card.uuid,
           nccl ? "NCCL cannot have two PEs on one GPU: give each executor a GPU of its own "
                  "(spark.executor.resource.gpu.amount=1 and a discovery script that gives each another address), or "
                  "use spark.sparkgap.provider=nvshmem with MPS"
                : "Give each executor a GPU of its own (spark.executor.resource.gpu.amount=1 and a discovery script "
                  "that gives each another address); if they are to share it, start MPS and set "
                  "spark.sparkgap.device.shared=true");
    }
  }
}

void DeviceEngine::start_provider(const std::vector<DeviceCard>& cards) {
  WaitOptions wait = node_->waiter().options();
  watcher_.emplace(
      node_->control(), [this](Waiter& waiter) { look_at_kernels(waiter); }, [this] { device_->abort(); }, options_.pe,
      wait);
  const DeviceControl control = {&node_->control().header(), sizeof(ControlHeader),
                                 &node_->control().header().abort_state};
  // The others would wait for a PE that fails here, so it ends the world for them.
  check(device_->start(cards.data(), control, &failure_));
  started_ = true;
  node_->steps().meet();
  all_started_ = true;
}

// Each PE writes a word into every other's memory by the way that the kernels will take, and looks for theirs.
void DeviceEngine::verify_puts(const std::vector<DeviceCard>& cards) {
  const size_t pes = static_cast<size_t>(options_.pes);
  std::vector<uint64_t> words(pes);
  const auto scratch_word = [this](int32_t pe, int32_t from) {
    return scratch_->part(pe) + static_cast<size_t>(from) * sizeof(uint64_t);
  };
  for (int32_t to = 0; to < options_.pes; ++to) {
    words[static_cast<size_t>(to)] = node_->token(options_.pe, to);
    copy(scratch_word(to, options_.pe), &words[static_cast<size_t>(to)], sizeof(uint64_t));
  }
  synchronize();
  node_->steps().meet();
  copy(words.data(), scratch_word(options_.pe, 0), pes * sizeof(uint64_t));
  sparkgap_status status = SPARKGAP_OK;
  for (int32_t from = 0; from < options_.pes && status == SPARKGAP_OK; ++from) {
    if (words[static_cast<size_t>(from)] == node_->token(from, options_.pe)) continue;
    status = SPARKGAP_UNAVAILABLE;
    Text(failure_.message, sizeof failure_.message)
        .add(
            "what PE %d (%s) puts into the GPU memory of this PE does not arrive, though the driver has mapped it: "
            "their GPUs (%s and %s) cannot reach each other. Look at `nvidia-smi topo -p2p w`, and whether an IOMMU "
            "stands between them",
            from, node_->label(from).c_str(), cards[static_cast<size_t>(from)].pci,
            cards[static_cast<size_t>(options_.pe)].pci);
  }
  std::fill(words.begin(), words.end(), 0);
  copy(scratch_word(options_.pe, 0), words.data(), pes * sizeof(uint64_t));
  synchronize();
  agree(status, "verifying puts");
}

void DeviceEngine::agree(sparkgap_status status, const char* what) {
  Failure own;
  if (status != SPARKGAP_OK) own = failure_;
  own.status = status;
  char text[100];
  Text(text, sizeof text).add("%s %s", what, options_.provider.c_str());
  sparkgap::agree(*node_, own, text);
}

}  // namespace sparkgap
