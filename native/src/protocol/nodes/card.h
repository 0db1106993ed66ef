// What PEs of several nodes know of each other before they are connected: each one's card, which travels to all by the
// rendezvous, and from that which PEs share a node.
//
// A card holds secrets (the world's key, the keys of memory): it goes over Spark's own RPC and into no log.
#ifndef SPARKGAP_PROTOCOL_NODES_CARD_H
#define SPARKGAP_PROTOCOL_NODES_CARD_H

#include <cstdint>
#include <vector>

#include "provider/provider.h"
#include "sparkgap/sparkgap.h"
#include "wire/wire.h"

namespace sparkgap {

constexpr uint64_t kCardMagic = 0x6472616370616773u;  // "sgapcard"
constexpr uint64_t kCardLabelBytes = 64;
constexpr uint64_t kCardHostBytes = 56;

struct Card {
  uint64_t magic;
  uint32_t abi_version;
  int32_t pe;
  int32_t pes;
  int32_t node_first_pe;
  int32_t node_pes;
  int32_t is_rdma;  // what wire it listens on
  uint64_t epoch;
  uint64_t key[2];      // PE 0's is the world's
  WireContact contact;  // where this PE listens until it is connected
  WireMemory inbox;
  uint8_t node_id[SPARKGAP_WORLD_ID_BYTES];  // of the node's own memory; of its first PE
  char label[kCardLabelBytes];
  char host[kCardHostBytes];
};
static_assert(sizeof(Card) <= SPARKGAP_CARD_BYTES, "a card must fit into what the rendezvous carries");

// Which PEs share a node: PEs are numbered node by node.
class NodeMap {
 public:
  NodeMap() = default;
  explicit NodeMap(const std::vector<Card>& cards, int32_t pe);

  int32_t nodes() const { return static_cast<int32_t>(first_.size()) - 1; }
  int32_t own() const { return own_; }
  int32_t first(int32_t node) const { return first_[static_cast<size_t>(node)]; }
  int32_t size(int32_t node) const { return first(node + 1) - first(node); }
  int32_t node_of(int32_t pe) const;
  int32_t number_in_node(int32_t pe) const { return pe - first(node_of(pe)); }
  bool is_near(int32_t pe) const { return pe >= first(own_) && pe < first(own_ + 1); }
  int32_t smallest() const { return smallest_; }
  int32_t largest() const { return largest_; }
  // The PE of `node` that deals with PE `pe` of another one.
  int32_t partner(int32_t node, int32_t pe) const { return first(node) + number_in_node(pe) % size(node); }

 private:
  std::vector<int32_t> first_;  // of each node, and one past the last PE
  int32_t own_ = 0;
  int32_t smallest_ = 0;
  int32_t largest_ = 0;
};

// All cards of the world, checked against what this PE was told and its own card: throws INVALID_ARGUMENT, UNAVAILABLE
// or MISMATCH, and names the PE whose card does not fit.
std::vector<Card> read_cards(const uint8_t* cards, const WorldOptions& options);

// The same for PEs that can map each other's memory: SPARKGAP_NODE_KEY_BYTES.
void write_node_key(uint8_t* key);

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_CARD_H
