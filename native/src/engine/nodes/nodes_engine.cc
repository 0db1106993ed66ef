#include "engine/nodes/nodes_engine.h"

#include <algorithm>
#include <utility>

#include "collective/nodes_algorithms.h"
#include "protocol/atomics.h"
#include "provider/host/host_memory.h"

namespace sparkgap {
namespace {

// Large puts and gets go in pieces, so that a wait for them sees them move.
constexpr uint64_t kPieceBytes = 128 << 10;

}  // namespace

class NodesEngine::Memory final : public SymmetricMemory {
 public:
  Memory(NodesEngine& engine, uint64_t number, std::unique_ptr<SymmetricMemory> memory, const WireMemory& exposed,
         std::vector<WireMemory> far)
      : engine_(engine), number_(number), memory_(std::move(memory)), exposed_(exposed), far_(std::move(far)) {}
  ~Memory() override { engine_.retire(number_, exposed_, std::move(memory_)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint8_t* part(int32_t pe) const override { return memory_->part(pe); }
  uint64_t number() const { return number_; }
  const WireMemory& far(int32_t pe) const { return far_[static_cast<size_t>(pe)]; }

 private:
  NodesEngine& engine_;
  uint64_t number_;
  std::unique_ptr<SymmetricMemory> memory_;  // of this node
  WireMemory exposed_;                       // this PE's part
  std::vector<WireMemory> far_;              // the parts of PEs of other nodes
};

NodesEngine::NodesEngine(const WorldOptions& options)
    : options_(options),
      near_(options),
      nodes_(options),
      channels_(nodes_.channels()),
      map_(nodes_.map()),
      freed_(std::make_unique<std::atomic<uint64_t>[]>(static_cast<size_t>(options.pes))) {}

NodesEngine::~NodesEngine() = default;

void NodesEngine::write_card(uint8_t* card, const uint8_t* node_id) const { nodes_.write_card(card, node_id); }

const uint8_t* NodesEngine::take_cards(const uint8_t* cards) { return nodes_.take_cards(cards); }

void NodesEngine::connect(Node& node, Circumstances* circumstances) {
  near_.connect(node, nullptr);
  nodes_.connect(node, this);
  near_node_.emplace(node);
  host_nodes_.emplace(*near_node_, nodes_, options_.pe);
  circumstances->nodes = map_.nodes();
  circumstances->one_trip_bytes = HostNodes::one_trip_bytes(options_.pes, map_.smallest(), channels_.message_bytes());
  // All have connected before any is told that it has.
  circumstances->oversubscribed = nodes_.introduce();
  circumstances->any_oversubscribed = nodes_.any_share_cpus();
  nodes_.meet();
}

bool NodesEngine::leave() {
  channels_.leave();
  return true;
}

Algorithm NodesEngine::collective(const CollectiveCall& call) {
  nodes_algorithm(call.collective, call.algorithm)(*host_nodes_, call);
  channels_.flush();
  return call.algorithm;
}

// ---- One-sided

const NodesEngine::Memory& NodesEngine::memory_of(const SymmetricMemory& memory) const {
  return static_cast<const Memory&>(memory);
}

void NodesEngine::for_each_piece(int32_t pe, uint64_t bytes, bool (*attempt)(void*, uint64_t, uint64_t),
                                 void* context) {
  for (uint64_t first = 0; first < bytes; first += kPieceBytes) {
    const uint64_t piece = std::min(kPieceBytes, bytes - first);
    channels_.insist(pe, [&] { return attempt(context, first, piece); });
  }
  channels_.wait_sent(pe, channels_.sent(pe));
}

void NodesEngine::put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) {
  if (map_.is_near(pe)) return near_.put(dst, offset, src, bytes, pe);
  struct Put {
    Wire& wire;
    const WireMemory& to;
    uint64_t offset;
    const uint8_t* src;
    int32_t pe;
  } all = {channels_.wire(), memory_of(dst).far(pe), offset, static_cast<const uint8_t*>(src), pe};
  for_each_piece(
      pe, bytes,
      [](void* context, uint64_t first, uint64_t piece) {
        const Put& put = *static_cast<const Put*>(context);
        return put.wire.try_put(put.pe, put.to, put.offset + first, put.src + first, piece, nullptr);
      },
      &all);
}

void NodesEngine::get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) {
  if (map_.is_near(pe)) return near_.get(dst, src, offset, bytes, pe);
  struct Get {
    Wire& wire;
    const WireMemory& from;
    uint64_t offset;
    uint8_t* dst;
    int32_t pe;
  } all = {channels_.wire(), memory_of(src).far(pe), offset, static_cast<uint8_t*>(dst), pe};
  for_each_piece(
      pe, bytes,
      [](void* context, uint64_t first, uint64_t piece) {
        const Get& get = *static_cast<const Get*>(context);
        return get.wire.try_get(get.pe, get.from, get.offset + first, get.dst + first, piece);
      },
      &all);
  channels_.check_present(pe);
}

void NodesEngine::signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) {
  if (map_.is_near(pe)) return near_.signal(memory, offset, value, signal_op, pe);
  const RequestKind kind = signal_op == SPARKGAP_SIGNAL_SET ? RequestKind::kSet : RequestKind::kAdd;
  channels_.request(pe, {kind, 0, memory_of(memory).number(), offset, value});
}

void NodesEngine::wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                              int64_t* observed) {
  near_.wait_signal(memory, offset, comparison, value, observed);
}

void NodesEngine::fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe,
                            int64_t* before) {
  if (map_.is_near(pe)) return near_.fetch_add(memory, offset, delta, pe, before);
  channels_.request(pe, {RequestKind::kFetchAdd, 0, memory_of(memory).number(), offset, delta});
  if (before != nullptr) *before = channels_.answer_of(pe);
}

bool NodesEngine::carry_out(const Request& request, int64_t* before) {
  const std::lock_guard<std::mutex> lock(parts_mutex_);
  const auto found = parts_.find(request.memory);
  if (found == parts_.end()) return false;
  const Part& part = found->second;
  if (request.offset % sizeof(int64_t) != 0 || part.bytes < sizeof(int64_t) ||
      request.offset > part.bytes - sizeof(int64_t)) {
    return false;
  }
  int64_t* word = reinterpret_cast<int64_t*>(part.address + request.offset);
  switch (request.kind) {
    case RequestKind::kSet:
      store_release(word, request.value);
      return true;
    case RequestKind::kAdd:
    case RequestKind::kFetchAdd:
      *before = __atomic_fetch_add(word, request.value, __ATOMIC_ACQ_REL);
      return true;
    default:
      return false;
  }
}

// ---- Memory

std::unique_ptr<SymmetricMemory> NodesEngine::allocate(uint64_t bytes) {
  reap();
  Node& node = near_node_->node();
  std::unique_ptr<SymmetricMemory> memory;
  WireMemory exposed;
  Failure failure;
  try {
    memory = allocate_host_memory(options_, node, bytes);
  } catch (const Failure& caught) {
    // Not what ended the world: then there is nobody to agree with.
    if (is_aborted(node.control())) throw;
    failure = caught;
  }
  const uint64_t number = ++allocations_;
  if (failure.status == SPARKGAP_OK) {
    try {
      exposed = channels_.wire().expose(memory->part(options_.pe), bytes);
      const std::lock_guard<std::mutex> lock(parts_mutex_);
      parts_[number] = {memory->part(options_.pe), bytes};
    } catch (const Failure& caught) {
      failure = caught;
    }
  }
  std::vector<WireMemory> far;
  try {
    far = nodes_.agree(failure, "", exposed);
  } catch (const Failure&) {
    if (exposed.bytes != 0) channels_.wire().withdraw(exposed);
    const std::lock_guard<std::mutex> lock(parts_mutex_);
    parts_.erase(number);
    throw;
  }
  return std::make_unique<Memory>(*this, number, std::move(memory), exposed, std::move(far));
}

void NodesEngine::retire(uint64_t number, const WireMemory& exposed, std::unique_ptr<SymmetricMemory> memory) {
  retired_.push_back({++frees_, number, exposed, std::move(memory)});
  if (channels_.has_peers()) channels_.tell_freed();
  reap();
}

void NodesEngine::reap() {
  while (!retired_.empty()) {
    const Retired& oldest = retired_.front();
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      const bool gone = map_.is_near(pe) || channels_.wire().state(pe) != WireState::kConnected;
      if (!gone && freed_[pe].load(std::memory_order_acquire) < oldest.order) return;
    }
    channels_.wire().withdraw(oldest.exposed);
    {
      const std::lock_guard<std::mutex> lock(parts_mutex_);
      parts_.erase(oldest.number);
    }
    retired_.pop_front();
  }
}

// ---- What there is to know

int32_t NodesEngine::link(int32_t a, int32_t b) const {
  if (map_.node_of(a) == map_.node_of(b)) return SPARKGAP_LINK_SHM;
  return channels_.is_rdma() ? SPARKGAP_LINK_RDMA : SPARKGAP_LINK_TCP;
}

void NodesEngine::describe(Text& text) const {
  near_.describe(text);
  nodes_.describe(text);
}

}  // namespace sparkgap
