// All PEs of a world on several nodes, as one of them sees them: those of its own node through its control segment, the
// others through channels. How they find each other, meet, and tell each other what is none of their users' data.
//
// Belongs to the thread of the PE's handle.
#ifndef SPARKGAP_PROTOCOL_NODES_NODES_H
#define SPARKGAP_PROTOCOL_NODES_NODES_H

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "protocol/agreement.h"
#include "protocol/node.h"
#include "protocol/nodes/card.h"
#include "protocol/nodes/channels.h"

namespace sparkgap {

class Nodes {
 public:
  // Listens from here on. `options` outlives the object.
  explicit Nodes(const WorldOptions& options) : options_(options), channels_(options) {}
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  // As Engine's.
  void write_card(uint8_t* card, const uint8_t* node_id) const;
  const uint8_t* take_cards(const uint8_t* cards);

  // Connects to the PEs of other nodes; `handler` carries out what they request. The node and the handler outlive the
  // last use but for the destructor. The others may still be connecting when this returns: introduce() first.
  void connect(Node& node, RequestHandler* handler);

  // Collective, first of all: ends the world if what PEs must have alike differs. True if the PEs of this machine,
  // which may be several nodes, share its CPUs.
  bool introduce();
  // Whether those of any machine do: known alike to all PEs, from introduce() on.
  bool any_share_cpus() const { return any_share_cpus_; }

  // Every PE comes here before any goes on.
  void meet();

  // Every PE's `mine`, in the order of the world. Collective, like all that follows.
  template <class Item>
  std::vector<Item> exchange(const Item& mine) {
    static_assert(sizeof(Item) <= kMostExchanged, "an item travels as one message");
    std::vector<Item> all(static_cast<size_t>(options_.pes));
    for (const int32_t peer : channels_.peers()) channels_.send(peer, &mine, sizeof mine);
    const std::vector<Item> near = sparkgap::exchange(*node_, mine);
    for (int32_t pe = 0; pe < node_->pes(); ++pe) all[index_of(node_->world_pe(pe))] = near[static_cast<size_t>(pe)];
    for (const int32_t peer : channels_.peers()) {
      std::memcpy(&all[index_of(peer)], channels_.receive(peer, sizeof mine), sizeof mine);
      channels_.release(peer);
    }
    channels_.flush();
    return all;
  }

  // Every PE's `mine`, if all have succeeded. Otherwise throws the first PE's failure, on all PEs alike; as agree of
  // protocol/agreement.h.
  template <class Item>
  std::vector<Item> agree(const Failure& own, const char* what, const Item& mine) {
    const Outcome<Item> outcome = outcome_of(own, mine);
    const std::vector<Outcome<Item>> all = exchange(outcome);
    std::vector<Item> items;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      const Outcome<Item>& other = all[index_of(pe)];
      if (other.status != SPARKGAP_OK) fail_as(pe, pe == options_.pe, label(pe), other.status, other.message, what);
      items.push_back(other.item);
    }
    return items;
  }

  Node& node() { return *node_; }
  Channels& channels() { return channels_; }
  const Channels& channels() const { return channels_; }
  // After take_cards.
  const NodeMap& map() const { return map_; }
  const char* label(int32_t pe) const { return cards_[index_of(pe)].label; }

  // Adds ", one of 2 nodes, between nodes libfabric 2.5.1, tcp on 10.77.0.1".
  void describe(Text& text) const;

 private:
  static constexpr uint64_t kMostExchanged = Channels::kLeastMessageBytes;

  struct Introduction;

  static size_t index_of(int32_t pe) { return static_cast<size_t>(pe); }

  const WorldOptions& options_;
  Channels channels_;
  std::vector<Card> cards_;
  NodeMap map_;
  Node* node_ = nullptr;
  bool any_share_cpus_ = false;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_NODES_H
