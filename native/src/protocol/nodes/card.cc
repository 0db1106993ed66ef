#include "protocol/nodes/card.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "provider/host/identity.h"
#include "wire/proof.h"

namespace sparkgap {
namespace {

uint64_t namespace_number(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 ? static_cast<uint64_t>(status.st_ino) : 0;
}

const char* wire_name(const Card& card) { return card.is_rdma != 0 ? "verbs" : "tcp"; }

[[noreturn]] void refuse(const Card& card, int32_t pe, const char* what) {
  fail(SPARKGAP_UNAVAILABLE, pe, "PE %d (%s on %s) %s", pe, card.label, card.host, what);
}

void check_card(const Card& card, const WorldOptions& options, int32_t pe) {
  if (card.magic != kCardMagic) {
    fail(SPARKGAP_INVALID_ARGUMENT, pe, "what was given as the card of PE %d is none", pe);
  }
  if (card.abi_version != SPARKGAP_ABI_VERSION) refuse(card, pe, "has another release: use one plugin jar everywhere");
  if (card.pe != pe || card.pes != options.pes || card.epoch != options.epoch) {
    fail(
        SPARKGAP_INVALID_ARGUMENT, pe,
        "the card of PE %d is that of PE %d of %d, epoch %llu, where a world of %d PEs, epoch %llu, is made: a card of "
        "another attempt",
        pe, card.pe, card.pes, static_cast<unsigned long long>(card.epoch), options.pes,
        static_cast<unsigned long long>(options.epoch));
  }
}

}  // namespace

NodeMap::NodeMap(const std::vector<Card>& cards, int32_t pe) {
  for (size_t i = 0; i < cards.size(); ++i) {
    if (cards[i].node_first_pe == static_cast<int32_t>(i)) first_.push_back(static_cast<int32_t>(i));
  }
  first_.push_back(static_cast<int32_t>(cards.size()));
  own_ = node_of(pe);
  smallest_ = largest_ = size(0);
  for (int32_t node = 1; node < nodes(); ++node) {
    smallest_ = std::min(smallest_, size(node));
    largest_ = std::max(largest_, size(node));
  }
}

int32_t NodeMap::node_of(int32_t pe) const {
  return static_cast<int32_t>(std::upper_bound(first_.begin(), first_.end(), pe) - first_.begin()) - 1;
}

std::vector<Card> read_cards(const uint8_t* bytes, const WorldOptions& options) {
  std::vector<Card> cards(static_cast<size_t>(options.pes));
  int32_t first = 0;
  for (int32_t pe = 0; pe < options.pes; ++pe) {
    Card& card = cards[static_cast<size_t>(pe)];
    std::memcpy(&card, bytes + static_cast<uint64_t>(pe) * SPARKGAP_CARD_BYTES, sizeof card);
    // They come from other processes: end them before they are printed.
    card.label[sizeof card.label - 1] = '\0';
    card.host[sizeof card.host - 1] = '\0';
    check_card(card, options, pe);
    if (pe == first + cards[static_cast<size_t>(first)].node_pes) first = pe;
    const bool fits = card.node_first_pe == first && card.node_pes == cards[static_cast<size_t>(first)].node_pes &&
                      card.node_pes >= 1 && card.node_pes <= options.pes - first;
    if (!fits) refuse(card, pe, "was told of another node than its neighbours: PEs are numbered node by node");
  }
  const Card& own = cards[static_cast<size_t>(options.pe)];
  for (const Card& card : cards) {
    if ((card.is_rdma != 0) == (own.is_rdma != 0)) continue;
    fail(
        SPARKGAP_MISMATCH, card.pe,
        "the wire (spark.sparkgap.wire) is %s on PE %d (%s on %s), but %s on PE %d (%s on %s): name one that all hosts "
        "have",
        wire_name(own), own.pe, own.label, own.host, wire_name(card), card.pe, card.label, card.host);
  }
  if (own.node_first_pe != options.node_first_pe || own.node_pes != options.node_pes) {
    fail(SPARKGAP_INVALID_ARGUMENT, own.pe, "the cards are not those of the world that was created");
  }
  return cards;
}

void write_node_key(uint8_t* key) {
  // Opening another process's memory takes the same kernel, the same view of processes, and the same user.
  const std::string boot = boot_id();
  const uint64_t who[] = {namespace_number("/proc/self/ns/pid"), namespace_number("/proc/self/ns/user"), geteuid(),
                          getegid()};
  std::string text = boot;
  text.append(reinterpret_cast<const char*>(who), sizeof who);
  uint64_t words[SPARKGAP_NODE_KEY_BYTES / sizeof(uint64_t)];
  for (uint64_t i = 0; i < std::size(words); ++i) {
    // No secret: the hash only makes it short.
    const uint64_t salt[2] = {i, 0};
    words[i] = siphash(salt, text.data(), text.size());
  }
  std::memcpy(key, words, sizeof words);
}

}  // namespace sparkgap
