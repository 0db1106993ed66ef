#include "protocol/nodes/nodes.h"

#include <cstdlib>

#include "base/random.h"
#include "protocol/agreed_options.h"
#include "provider/host/cpu_limits.h"
#include "provider/host/identity.h"

namespace sparkgap {
namespace {

// What two reads of one machine's clock may lie apart.
constexpr int64_t kSameClockNs = 10000;

}  // namespace

void Nodes::write_card(uint8_t* bytes, const uint8_t* node_id) const {
  Card card = {};
  card.magic = kCardMagic;
  card.abi_version = SPARKGAP_ABI_VERSION;
  card.pe = options_.pe;
  card.pes = options_.pes;
  card.node_first_pe = options_.node_first_pe;
  card.node_pes = options_.node_pes;
  card.epoch = options_.epoch;
  fill_randomly(card.key, sizeof card.key);
  channels_.write_card(&card);
  if (node_id != nullptr) std::memcpy(card.node_id, node_id, sizeof card.node_id);
  Text(card.label, sizeof card.label).add("%s", options_.label.c_str());
  Text(card.host, sizeof card.host).add("%s", host_name().c_str());
  std::memset(bytes, 0, SPARKGAP_CARD_BYTES);
  std::memcpy(bytes, &card, sizeof card);
}

const uint8_t* Nodes::take_cards(const uint8_t* bytes) {
  cards_ = read_cards(bytes, options_);
  map_ = NodeMap(cards_, options_.pe);
  return cards_[index_of(options_.node_first_pe)].node_id;
}

void Nodes::connect(Node& node, RequestHandler* handler) {
  node_ = &node;
  channels_.connect(node, map_, cards_, handler);
}

// What PEs of one node read in their control segment.
struct Nodes::Introduction {
  AgreedOptions options;
  CpuLimits cpus;
  int64_t kernel_start_ns;
};

bool Nodes::introduce() {
  const PeRecord& record = node_->control().record(node_->pe());
  const std::vector<Introduction> all = exchange(Introduction{record.options, record.cpus, kernel_start_ns()});
  const Introduction& own = all[index_of(options_.pe)];
  for (int32_t pe = 0; pe < options_.pes; ++pe) {
    const Failure failure =
        compare_options({options_.pe, options_.label.c_str()}, own.options, {pe, label(pe)}, all[index_of(pe)].options);
    if (failure.status != SPARKGAP_OK) node_->waiter().give_up(failure);
  }
  // Of every node alike, since all PEs must come to the same.
  any_share_cpus_ = false;
  bool here = false;
  for (int32_t node = 0; node < map_.nodes(); ++node) {
    const int64_t clock = all[index_of(map_.first(node))].kernel_start_ns;
    std::vector<CpuLimits> of_machine;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      const Introduction& other = all[index_of(pe)];
      if (map_.node_of(pe) == node || std::abs(other.kernel_start_ns - clock) < kSameClockNs) {
        of_machine.push_back(other.cpus);
      }
    }
    const bool shared = share_cpus(of_machine);
    any_share_cpus_ |= shared;
    if (node == map_.own()) here = shared;
  }
  return here;
}

void Nodes::meet() {
  for (const int32_t peer : channels_.peers()) channels_.send(peer, nullptr, 0);
  if (node_->pes() > 1) node_->steps().meet();
  for (const int32_t peer : channels_.peers()) {
    channels_.receive(peer, 0);
    channels_.release(peer);
  }
}

void Nodes::describe(Text& text) const {
  if (!cards_.empty()) text.add(", one of %d nodes", map_.nodes());
  text.add(", between nodes %s", channels_.describe());
  if (channels_.refused() == 0) return;
  text.add("; refused %u connections that did not prove the world's key, the first from %s", channels_.refused(),
           channels_.first_refused());
}

}  // namespace sparkgap
