// Worlds on several hosts: who shares a node, one-sided calls, memory.
// Run within tools/hosts/hosts.py --hosts 3 run.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "nodes/worlds.h"
#include "protocol/expect_failure.h"
#include "protocol/nodes/channels.h"
#include "protocol/nodes/room.h"
#include "support/check.h"
#include "support/hosts.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

void all_know_who_shares_a_node() {
  run_pes(pes_on({2, 1, 1}), [](const Pe& pe) {
    const int nodes[] = {0, 0, 1, 2};
    for (int a = 0; a < 4; ++a) {
      expect(sparkgap_world_node(pe.world(), a) == nodes[a], "PE %d is on node %d", a,
             sparkgap_world_node(pe.world(), a));
      for (int b = 0; b < 4; ++b) {
        const int link = nodes[a] == nodes[b] ? SPARKGAP_LINK_SHM : SPARKGAP_LINK_TCP;
        expect(sparkgap_world_link(pe.world(), a, b) == link, "PEs %d and %d are not joined as expected", a, b);
      }
    }
    expect(sparkgap_world_node(pe.world(), 4) == -1, "PE 4 of 4 has a node");
    const std::string route = sparkgap_route(pe.world(), SPARKGAP_ALL_REDUCE, 1 << 20, SPARKGAP_FLOAT32);
    expect(route == "nodes/scattered-rails", "a large allReduce goes by %s", route.c_str());
    sparkgap_tuning_table key = {};
    pe.ok(sparkgap_world_key(pe.world(), &key), "sparkgap_world_key");
    expect(std::strcmp(key.provider, "host") == 0 && key.device[0] == '\0' && key.link == SPARKGAP_LINK_TCP &&
               key.pes_from == 4 && key.nodes_from == 3 && key.nodes_to == 3,
           "a table for this world is for %s, device \"%s\", %d nodes", key.provider, key.device, key.nodes_from);
    sparkgap_buffer* buffer = pe.allocate(64);
    for (int other = 0; other < 4; ++other) {
      const bool near = nodes[other] == nodes[pe.pe()];
      expect((sparkgap_buffer_peer_address(buffer, other) != nullptr) == near, "PE %d's memory", other);
    }
    expect_sum(pe, static_cast<float>(pe.pe() + 1), 10);
  });
}

void node_keys_tell_hosts_apart() {
  const Shared<uint8_t> keys(3 * SPARKGAP_NODE_KEY_BYTES);
  for (int process = 0; process < 3; ++process) {
    join(start_on_host(process == 2 ? 1 : 0,
                       [&] { sparkgap_node_key(&keys[static_cast<size_t>(process) * SPARKGAP_NODE_KEY_BYTES]); }),
         "a process");
  }
  expect(std::memcmp(&keys[0], &keys[SPARKGAP_NODE_KEY_BYTES], SPARKGAP_NODE_KEY_BYTES) == 0,
         "processes of one host have different keys");
  expect(std::memcmp(&keys[0], &keys[2 * SPARKGAP_NODE_KEY_BYTES], SPARKGAP_NODE_KEY_BYTES) != 0,
         "processes of two hosts have the same key");
}

// ---- One-sided

void puts_are_there_after_a_barrier() {
  run_pes(pes_on({2, 2}), [](const Pe& pe) {
    const uint64_t bytes = 3 << 20;
    sparkgap_buffer* buffer = pe.allocate(4 * bytes);
    const auto* own = static_cast<const uint8_t*>(sparkgap_buffer_address(buffer));
    for (int round = 1; round <= 3; ++round) {
      const std::vector<uint8_t> data(bytes, static_cast<uint8_t>(round * 16 + pe.pe()));
      for (int to = 0; to < 4; ++to) {
        pe.ok(sparkgap_put(pe.world(), buffer, static_cast<uint64_t>(pe.pe()) * bytes, data.data(), bytes, to), "put");
      }
      pe.ok(sparkgap_barrier(pe.world()), "barrier");
      for (int from = 0; from < 4; ++from) {
        for (uint64_t i = 0; i < bytes; ++i) {
          expect(own[static_cast<uint64_t>(from) * bytes + i] == round * 16 + from, "a put of PE %d is not there",
                 from);
        }
      }
      std::vector<uint8_t> copy(bytes);
      for (int from = 0; from < 4; ++from) {
        pe.ok(sparkgap_get(pe.world(), copy.data(), buffer, static_cast<uint64_t>(pe.pe()) * bytes, bytes, from),
              "get");
        expect(copy == data, "PE %d does not have what was put", from);
      }
      pe.ok(sparkgap_barrier(pe.world()), "barrier");
    }
  });
}

void signals_come_after_the_data() {
  run_pes(pes_on({1, 2}), [](const Pe& pe) {
    sparkgap_buffer* data = pe.allocate(1 << 20);
    sparkgap_buffer* signal = pe.allocate(64);
    const int next = (pe.pe() + 1) % 3;
    const int64_t* own = static_cast<const int64_t*>(sparkgap_buffer_address(data));
    std::vector<int64_t> values(10000);
    for (int64_t round = 1; round <= 300; ++round) {
      values.assign(values.size(), round);
      pe.ok(sparkgap_put_signal(pe.world(), data, 0, values.data(), values.size() * 8, signal, 0, round,
                                SPARKGAP_SIGNAL_SET, next),
            "put_signal");
      pe.ok(sparkgap_wait_signal(pe.world(), signal, 0, SPARKGAP_GE, round, nullptr), "wait_signal");
      expect(own[0] == round && own[values.size() - 1] == round, "the data of round %ld is not there", round);
      pe.ok(sparkgap_signal(pe.world(), signal, 8, 1, SPARKGAP_SIGNAL_ADD, (pe.pe() + 2) % 3), "signal");
      pe.ok(sparkgap_wait_signal(pe.world(), signal, 8, SPARKGAP_GE, round, nullptr), "wait_signal");
    }
  });
}

void additions_of_all_count() {
  run_pes(pes_on({2, 2}), [](const Pe& pe) {
    sparkgap_buffer* counter = pe.allocate(4096);
    constexpr int64_t kEach = 200;
    int64_t last = -1;
    for (int64_t i = 0; i < kEach; ++i) {
      int64_t before = -1;
      pe.ok(sparkgap_fetch_add(pe.world(), counter, 4088, 1, 0, &before), "fetch_add");
      expect(before > last, "a counter went from %ld to %ld", last, before);
      last = before;
      pe.ok(sparkgap_signal(pe.world(), counter, 8, 2, SPARKGAP_SIGNAL_ADD, 3), "signal");
    }
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const auto* own = static_cast<const int64_t*>(sparkgap_buffer_address(counter));
    if (pe.pe() == 0) expect(own[511] == 4 * kEach, "the counter is %ld", own[511]);
    if (pe.pe() == 3) {
      pe.ok(sparkgap_wait_signal(pe.world(), counter, 8, SPARKGAP_EQ, 8 * kEach, nullptr), "wait_signal");
    }
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
  });
}

// Long before the deadline.
void a_call_that_a_pe_of_another_node_does_not_make_is_told_when_its_function_has_ended() {
  const Shared<std::atomic<int>> told;
  Pes pes = pes_on({1, 1});
  pes.peer_timeout_ms = 40000;
  pes.deadline_seconds = 30;
  run_pes(pes, [&](const Pe& pe) {
    expect_sum(pe, 1, 2);
    pe.ok(sparkgap_world_finish(pe.world()), "finish");
    expect_sum(pe, 2, 4);  // of the next run
    if (pe.pe() == 1) {
      pe.ok(sparkgap_world_finish(pe.world()), "finish");
      while (told->load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    std::vector<float> values(1000);
    const sparkgap_status status =
        sparkgap_all_reduce(pe.world(), values.data(), values.data(), 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    told->store(1);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH,
                   {"waits for a PE whose function has ended: PE 1 (test PE 1", "made 1 call and returned"});
  });
}

// PE 1 makes no call at all meanwhile.
void a_pe_that_computes_still_answers() {
  const Shared<std::atomic<int>> done;
  run_pes(pes_on({1, 1}), [&](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(1 << 20);
    if (pe.pe() == 0) {
      std::vector<uint8_t> data(1 << 20, 7);
      std::vector<uint8_t> copy(1 << 20);
      for (int i = 0; i < 10; ++i) {
        int64_t before = 0;
        pe.ok(sparkgap_put(pe.world(), buffer, 0, data.data(), data.size(), 1), "put");
        pe.ok(sparkgap_get(pe.world(), copy.data(), buffer, 0, copy.size(), 1), "get");
        expect(copy == data, "another answer");
        pe.ok(sparkgap_fetch_add(pe.world(), buffer, 0, 0, 1, &before), "fetch_add");
      }
      done[0] = 1;
    } else {
      volatile uint64_t work = 0;
      while (done[0].load() == 0) work = work + 1;
    }
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
  });
}

void freed_memory_is_kept_while_others_use_it() {
  run_pes(pes_on({1, 2}), [](const Pe& pe) {
    for (int round = 0; round < 20; ++round) {
      sparkgap_buffer* buffer = pe.allocate(100000);
      const std::vector<uint8_t> data(100000, 3);
      // PE 0 gives its end back while the others still write to it.
      if (pe.pe() != 0) {
        for (int i = 0; i < 5; ++i) {
          pe.ok(sparkgap_put(pe.world(), buffer, 0, data.data(), data.size(), 0), "put");
        }
      }
      pe.ok(sparkgap_free(pe.world(), buffer), "free");
    }
    expect_sum(pe, 1, 3);
  });
}

void too_large_a_buffer_is_refused_on_all_alike() {
  run_pes(pes_on({1, 1}), [](const Pe& pe) {
    sparkgap_buffer* buffer = nullptr;
    // More than any host has.
    const sparkgap_status status = sparkgap_allocate(pe.world(), uint64_t{8} << 40, &buffer);
    expect(status == SPARKGAP_OUT_OF_MEMORY, "status %d: %s", status, sparkgap_last_error(pe.world()));
    expect_sum(pe, 1, 2);
  });
}

void sixteen_pes_on_two_hosts() {
  Pes pes = pes_on({8, 8});
  pes.peer_timeout_ms = 60000;
  pes.deadline_seconds = 120;
  run_pes(pes, [](const Pe& pe) {
    for (int i = 0; i < 20; ++i) expect_sum(pe, 1, 16);
    std::vector<float> large(1 << 20, 1);
    pe.ok(sparkgap_all_reduce(pe.world(), large.data(), large.data(), large.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM),
          "sparkgap_all_reduce");
    for (const float value : large) expect(value == 16, "a sum is %g", value);
  });
}

// One way, so that nothing but the room holds the sender up, and of sizes that leave rests at the end of the room.
void messages_of_mixed_sizes_find_their_places() {
  constexpr size_t kCounts[] = {1, 40000, 250, 32768, 129, 3, 20000, 1000};
  run_pes(pes_on({1, 1}), [&](const Pe& pe) {
    std::vector<int32_t> values(40000);
    for (int32_t call = 0; call < 2000; ++call) {
      const size_t count = call % 400 < 200 ? kCounts[call % 3 * 2] : kCounts[call % 8];
      const auto value = [call](size_t i) { return call * 1000 + static_cast<int32_t>(i % 997); };
      if (pe.pe() == 0) {
        for (size_t i = 0; i < count; ++i) values[i] = value(i);
      }
      pe.ok(sparkgap_broadcast(pe.world(), values.data(), values.data(), count, SPARKGAP_INT32, 0),
            "sparkgap_broadcast");
      for (size_t i = 0; i < count; ++i) expect(values[i] == value(i), "call %d: item %zu is %d", call, i, values[i]);
    }
  });
}

// The room alone, in worlds of few PEs and of many: whoever has been told all that has to be told is never held up by
// less than Channels::kMessagesAhead.
void a_room_holds_so_many_messages_wherever_they_begin() {
  for (const uint64_t largest : {uint64_t{4} << 10, uint64_t{128} << 10}) {
    const Room room(largest);
    for (uint64_t start = 0; start < room.units(); ++start) {
      uint64_t told = start;
      while (told > 0 && !room.is_to_be_told(start, told - 1)) --told;
      uint64_t end = start;
      for (uint64_t i = 0; i < Channels::kMessagesAhead; ++i) {
        const uint64_t begin = room.begin(end, largest);
        end = room.end(end, largest);
        expect(room.offset(begin) + largest <= room.bytes(), "a message of %llu bytes goes over the end",
               static_cast<unsigned long long>(largest));
        expect(room.has(end, told), "no room for message %d at %llu", static_cast<int>(i),
               static_cast<unsigned long long>(start));
      }
      expect(!room.has(start + room.units() + 1, start), "more messages than room");
    }
  }
}

void cards_that_do_not_fit_are_refused() {
  Pes pes{1};
  pes.nodes = {1, 1};
  pes.count = 2;
  const sparkgap_world_options options = options_of(pes, 0, "alone");
  sparkgap_world* world = nullptr;
  expect(sparkgap_world_create(&options, &world) == SPARKGAP_OK, "create: %s", sparkgap_last_error(world));
  std::vector<uint8_t> cards(2 * SPARKGAP_CARD_BYTES);
  expect(sparkgap_world_connect_cards(world, cards.data()) == SPARKGAP_INVALID_ARGUMENT, "empty cards are taken");
  expect(sparkgap_world_card(world, cards.data()) == SPARKGAP_OK, "card: %s", sparkgap_last_error(world));
  std::memcpy(cards.data() + SPARKGAP_CARD_BYTES, cards.data(), SPARKGAP_CARD_BYTES);
  expect(sparkgap_world_connect_cards(world, cards.data()) == SPARKGAP_INVALID_ARGUMENT, "one card for two is taken");
  uint8_t id[SPARKGAP_WORLD_ID_BYTES] = {};
  expect(sparkgap_world_id(world, id) == SPARKGAP_INVALID_ARGUMENT, "it has an id");
  expect(sparkgap_world_connect(world, id) == SPARKGAP_INVALID_ARGUMENT, "it connects by an id");
  sparkgap_world_destroy(world);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"node_keys_tell_hosts_apart", node_keys_tell_hosts_apart},
       {"cards_that_do_not_fit_are_refused", cards_that_do_not_fit_are_refused},
       {"all_know_who_shares_a_node", all_know_who_shares_a_node},
       {"puts_are_there_after_a_barrier", puts_are_there_after_a_barrier},
       {"signals_come_after_the_data", signals_come_after_the_data},
       {"additions_of_all_count", additions_of_all_count},
       {"a_call_that_a_pe_of_another_node_does_not_make_is_told_when_its_function_has_ended",
        a_call_that_a_pe_of_another_node_does_not_make_is_told_when_its_function_has_ended},
       {"a_pe_that_computes_still_answers", a_pe_that_computes_still_answers},
       {"freed_memory_is_kept_while_others_use_it", freed_memory_is_kept_while_others_use_it},
       {"too_large_a_buffer_is_refused_on_all_alike", too_large_a_buffer_is_refused_on_all_alike},
       {"a_room_holds_so_many_messages_wherever_they_begin", a_room_holds_so_many_messages_wherever_they_begin},
       {"messages_of_mixed_sizes_find_their_places", messages_of_mixed_sizes_find_their_places},
       {"sixteen_pes_on_two_hosts", sixteen_pes_on_two_hosts}});
}
