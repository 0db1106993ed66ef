// What PEs of a node tell each other outside the collectives of their users: an item each, or how a part of some work
// went that counts only if all have succeeded. All of it is collective, and a step.
#ifndef SPARKGAP_PROTOCOL_AGREEMENT_H
#define SPARKGAP_PROTOCOL_AGREEMENT_H

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "protocol/node.h"

namespace sparkgap {

// Every PE's `mine`, in the order of the node.
template <class Item>
std::vector<Item> exchange(Node& node, const Item& mine) {
  std::vector<Item> all(static_cast<size_t>(node.pes()));
  Steps& steps = node.steps();
  steps.begin();
  std::memcpy(steps.slot(node.pe()), &mine, sizeof mine);
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < node.pes(); ++pe) {
    std::memcpy(&all[static_cast<size_t>(pe)], steps.slot(pe), sizeof mine);
  }
  return all;
}

// How a part of the work went on one PE, and what it brought.
template <class Item>
struct Outcome {
  int32_t status;
  char message[kMaxMessageBytes];
  Item item;
};

template <class Item>
Outcome<Item> outcome_of(const Failure& own, const Item& mine) {
  Outcome<Item> outcome = {};
  outcome.status = own.status;
  std::memcpy(outcome.message, own.message, sizeof outcome.message);
  outcome.item = mine;
  return outcome;
}

// Throws what PE `pe` of the world has failed with, as that PE's failure at `what` ("allocating"; "" if the message
// says it). `own`: it is this PE.
[[noreturn]] void fail_as(int32_t pe, bool own, const std::string& label, int32_t status, const char* message,
                          const char* what);

// Every PE's `mine`, if all have succeeded. Otherwise throws the first PE's failure, on all PEs alike. `own`: how it
// went here, SPARKGAP_OK or what went wrong.
template <class Item>
std::vector<Item> agree(Node& node, const Failure& own, const char* what, const Item& mine) {
  const std::vector<Outcome<Item>> all = exchange(node, outcome_of(own, mine));
  std::vector<Item> items;
  for (int32_t pe = 0; pe < node.pes(); ++pe) {
    const Outcome<Item>& other = all[static_cast<size_t>(pe)];
    if (other.status != SPARKGAP_OK) {
      fail_as(node.world_pe(pe), pe == node.pe(), node.label(pe), other.status, other.message, what);
    }
    items.push_back(other.item);
  }
  return items;
}

// The same where there is nothing to tell but how it went.
inline void agree(Node& node, const Failure& own, const char* what) { agree<char>(node, own, what, 0); }

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_AGREEMENT_H
