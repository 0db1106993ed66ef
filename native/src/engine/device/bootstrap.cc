// How a GPU world comes about: cards, the provider, the first memory, a verified put from each to each, links.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/version.h"
#include "engine/device/device_engine.h"
#include "engine/device/library.h"
#include "protocol/abort.h"
#include "protocol/agreement.h"
#include "protocol/nodes/card.h"

namespace sparkgap {
namespace {

std::string text_of_node_key() {
  uint8_t key[SPARKGAP_NODE_KEY_BYTES];
  write_node_key(key);
  std::string text;
  for (const uint8_t byte : key) {
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

// What a library reads of this once is for all worlds of the process. So those on one node have the wire's, too, where
// there is one to be had.
OwnInterface interface_for(const WorldOptions& options, bool spans_nodes) {
  const OwnInterface loopback = {"lo", false};
  if (options.wire_address.empty()) return loopback;
  try {
    return own_interface(options.wire_address);
  } catch (const Failure&) {
    if (spans_nodes) throw;
    return loopback;
  }
}

bool share_a_gpu(const std::vector<DeviceCard>& cards) {
  for (const DeviceCard& card : cards) {
    const auto same = [&card](const DeviceCard& other) { return std::strcmp(other.uuid, card.uuid) == 0; };
    if (std::count_if(cards.begin(), cards.end(), same) > 1) return true;
  }
  return false;
}

}  // namespace

DeviceEngine::DeviceEngine(const WorldOptions& options) : options_(options), host_id_(text_of_node_key()) {
  if (options.device < 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "provider %s needs a GPU, but device is %d", options.provider.c_str(),
         options.device);
  }
  if (options.node_pes > kernels::kMaxPes) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "a world of GPUs has at most %d PEs on a node, not %d", kernels::kMaxPes,
         options.node_pes);
  }
  const bool spans_nodes = options.node_pes != options.pes;
  if (spans_nodes) nodes_ = std::make_unique<Nodes>(options);
  interface_ = interface_for(options, spans_nodes);
  const bool nvshmem = options.provider == "nvshmem";
  DeviceWorldOptions device = {};
  device.pe = options.pe;
  device.pes = options.pes;
  device.near_pe = options.near_pe();
  device.near_pes = options.node_pes;
  device.epoch = options.epoch;
  device.peer_timeout_ms = options.peer_timeout_ms;
  device.device = options.device;
  device.max_blocks = options.kernel_max_blocks;
  device.resident_idle_ms = options.resident_idle_ms;
  device.provider = nvshmem ? "nvshmem" : "nccl";
  device.library = (nvshmem ? options.nvshmem_library : options.nccl_library).c_str();
  device.nccl_library = options.nccl_library.c_str();
  device.network = {interface_.name.c_str(), interface_.is_ipv6, options.wire == "tcp", host_id_.c_str()};
  Failure failure;
  if (device_library().make_world(device, &device_, &failure) != SPARKGAP_OK) throw failure;
}

void DeviceEngine::write_card(uint8_t* card, const uint8_t* node_id) const {
  if (nodes_ == nullptr) return Engine::write_card(card, node_id);
  nodes_->write_card(card, node_id);
}

const uint8_t* DeviceEngine::take_cards(const uint8_t* cards) {
  return nodes_ == nullptr ? Engine::take_cards(cards) : nodes_->take_cards(cards);
}

void DeviceEngine::connect(Node& node, Circumstances* circumstances) {
  node_ = &node;
  if (nodes_ != nullptr) {
    nodes_->connect(node, this);
    circumstances->oversubscribed = nodes_->introduce();
  }
  const std::vector<DeviceCard> cards = exchange_cards();
  check_cards(cards);
  start_provider(cards);
  for (bool done = false; !done;) {
    try {
      scratch_ = allocate_together(device_->scratch_bytes());
      verify_puts(near(cards));
      done = true;
    } catch (const Failure&) {
      if (is_aborted(node_->control()) || !device_->fall_back()) throw;
    }
  }
  agree(device_->use_scratch(*scratch_, near(cards), &failure_), "setting up the kernels");
  find_links(cards);
  circumstances->lanes = nodes_ == nullptr ? device_->lanes() : 0;
  circumstances->pcie = nodes_ == nullptr && links_[0].has(SPARKGAP_LINK_PCIE);
  circumstances->gpu_shared = share_a_gpu(cards);
  circumstances->tuning = &kernels::tuning_for(cards[0].name, circumstances->gpu_shared);
  const auto as_first = [&cards](const DeviceCard& card) { return std::strcmp(card.name, cards[0].name) == 0; };
  if (std::all_of(cards.begin(), cards.end(), as_first)) {
    Text(circumstances->device, sizeof circumstances->device).add("%s", cards[0].name);
  }
  (options_.provider == "nvshmem" ? circumstances->nvshmem_version : circumstances->nccl_version) =
      cards[0].library_version;
  if (nodes_ != nullptr) circumstances->nodes = nodes_->map().nodes();
}

void DeviceEngine::find_links(const std::vector<DeviceCard>& cards) {
  LinkRow mine = {};
  device_->find_links(near(cards), &mine);
  std::copy(std::begin(mine.lacks_atomics), std::end(mine.lacks_atomics), lacks_atomics_);
  const std::vector<LinkRow> rows = exchange_all(mine);
  if (nodes_ == nullptr) {
    links_.emplace_back(rows);
    return;
  }
  const NodeMap& map = nodes_->map();
  for (int32_t node = 0; node < map.nodes(); ++node) {
    links_.emplace_back(std::vector<LinkRow>(rows.begin() + map.first(node), rows.begin() + map.first(node + 1)));
  }
  const bool rdma =
      std::all_of(cards.begin(), cards.end(), [](const DeviceCard& card) { return card.reaches_by_rdma != 0; });
  link_between_nodes_ = rdma ? SPARKGAP_LINK_RDMA : SPARKGAP_LINK_TCP;
}

int32_t DeviceEngine::link(int32_t a, int32_t b) const {
  if (nodes_ == nullptr) return links_[0].between(a, b);
  const NodeMap& map = nodes_->map();
  const int32_t node = map.node_of(a);
  if (node != map.node_of(b)) return link_between_nodes_;
  return links_[static_cast<size_t>(node)].between(map.number_in_node(a), map.number_in_node(b));
}

void DeviceEngine::meet_all() {
  if (nodes_ == nullptr) return node_->steps().meet();
  nodes_->meet();
}

std::vector<DeviceCard> DeviceEngine::exchange_cards() {
  DeviceCard mine = {};
  agree(device_->card(&mine, &failure_), "getting ready");
  return exchange_all(mine);
}

// All PEs see the same cards, so all fail alike and nobody waits for the others.
void DeviceEngine::check_cards(const std::vector<DeviceCard>& cards) const {
  // One node has no cards with labels, several have no control segment for all.
  const auto label = [this](int32_t pe) {
    return nodes_ == nullptr ? node_->label(pe) : std::string(nodes_->label(pe));
  };
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
           label(0).c_str(), first.provider, version_text(first.library_version).c_str(), first.library, pe,
           label(pe).c_str(), version_text(card.library_version).c_str(), card.library, first.provider);
    }
    for (int32_t other = 0; other < pe; ++other) {
      if (std::strcmp(card.uuid, cards[static_cast<size_t>(other)].uuid) != 0) continue;
      const bool nccl = std::strcmp(card.provider, "nccl") == 0;
      // Two nodes can be containers of one host. NCCL minds PEs that share a GPU only if it takes them for neighbours.
      if (options_.device_shared && (!nccl || node_of(other) != node_of(pe))) continue;
      fail(SPARKGAP_UNAVAILABLE, pe, "PE %d (%s) and PE %d (%s) are on one GPU, %s %s (%s). %s", other,
           label(other).c_str(), pe, label(pe).c_str(), card.name, card.pci, card.uuid,
           nccl && node_of(other) == node_of(pe)
               ? "NCCL cannot have two PEs on one GPU: give each executor a GPU of its own "
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
      node_->control(),
      [this](Waiter& waiter) {
        look_at_kernels(waiter);
        look_at_provider(waiter);
        if (nodes_ != nullptr) nodes_->channels().check_alive(waiter, false);
      },
      [this] { device_->abort(); }, node_->pe(), wait);
  const DeviceControl control = {&node_->control().header(), sizeof(ControlHeader),
                                 &node_->control().header().abort_state};
  // The others would wait for a PE that fails here, so it ends the world for them.
  check(device_->start(cards.data(), control, &failure_));
  started_ = true;
  meet_all();
  all_started_ = true;
}

// Each PE writes a word into the memory of every other that it reaches, by the way that the kernels will take, and
// looks for theirs. `cards`: of the PEs of this node.
void DeviceEngine::verify_puts(const DeviceCard* cards) {
  const int32_t own = node_->pe();
  const size_t pes = static_cast<size_t>(node_->pes());
  std::vector<uint64_t> words(pes);
  const auto scratch_word = [this](int32_t pe, int32_t from) {
    return scratch_->part(pe) + static_cast<size_t>(from) * sizeof(uint64_t);
  };
  for (int32_t to = 0; to < node_->pes(); ++to) {
    if (scratch_->part(to) == nullptr) continue;
    words[static_cast<size_t>(to)] = node_->token(own, to);
    copy(scratch_word(to, own), &words[static_cast<size_t>(to)], sizeof(uint64_t));
  }
  synchronize();
  node_->steps().meet();
  copy(words.data(), scratch_word(own, 0), pes * sizeof(uint64_t));
  sparkgap_status status = SPARKGAP_OK;
  for (int32_t from = 0; from < node_->pes() && status == SPARKGAP_OK; ++from) {
    if (scratch_->part(from) == nullptr || words[static_cast<size_t>(from)] == node_->token(from, own)) continue;
    status = SPARKGAP_UNAVAILABLE;
    Text(failure_.message, sizeof failure_.message)
        .add(
            "what PE %d (%s) puts into the GPU memory of this PE does not arrive, though the driver has mapped it: "
            "their GPUs (%s and %s) cannot reach each other. Look at `nvidia-smi topo -p2p w`, and whether an IOMMU "
            "stands between them",
            node_->world_pe(from), node_->label(from).c_str(), cards[from].pci, cards[own].pci);
  }
  std::fill(words.begin(), words.end(), 0);
  copy(scratch_word(own, 0), words.data(), pes * sizeof(uint64_t));
  synchronize();
  agree(status, "verifying puts");
}

void DeviceEngine::agree(sparkgap_status status, const char* what) {
  Failure own;
  if (status != SPARKGAP_OK) own = failure_;
  own.status = status;
  char text[100];
  Text(text, sizeof text).add("%s %s", what, options_.provider.c_str());
  if (nodes_ == nullptr) {
    sparkgap::agree(*node_, own, text);
  } else {
    nodes_->agree<char>(own, text, 0);
  }
}

}  // namespace sparkgap
