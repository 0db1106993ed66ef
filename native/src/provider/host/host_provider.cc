#include "provider/host/host_provider.h"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "base/random.h"
#include "protocol/abort.h"
#include "protocol/atomics.h"
#include "provider/host/cpu_limits.h"
#include "provider/host/identity.h"
#include "provider/host/world_id.h"

namespace sparkgap {

HostProvider::HostProvider(const WorldOptions& options) : options_(options) {}

void HostProvider::make_world() {
  const ControlLayout layout = ControlLayout::of(options_.node_pes);
  segment_ = Segment::make(options_.host_directory, layout.segment_bytes);
  if (const int error = segment_.reserve(0, layout.segment_bytes); error != 0) {
    if (error != ENOSPC) {
      fail(SPARKGAP_UNAVAILABLE, kNoPe,
           "cannot reserve %s: %s; where spark.sparkgap.host.directory names a directory, it must be of a tmpfs",
           place(options_.host_directory).c_str(), std::strerror(error));
    }
    char message[kMaxMessageBytes];
    Text text(message, sizeof message);
    text.add("a world of %d PEs ", options_.node_pes);
    describe_shortage(text, options_.host_directory, layout.segment_bytes, free_bytes(options_.host_directory));
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "%s", message);
  }
  ControlHeader& header = *reinterpret_cast<ControlHeader*>(segment_.base());
  header.magic = kHostWorldMagic;
  header.abi_version = SPARKGAP_ABI_VERSION;
  header.pes = options_.node_pes;
  header.first_pe = options_.node_first_pe;
  header.world_pes = options_.pes;
  header.epoch = options_.epoch;
  header.segment_bytes = layout.segment_bytes;
  header.slot_bytes = layout.slot_bytes;
  fill_randomly(header.key, sizeof header.key);
}

void HostProvider::write_id(uint8_t* bytes) const {
  const ControlHeader& header = *reinterpret_cast<const ControlHeader*>(segment_.base());
  HostWorldId id = {};
  id.magic = kHostWorldMagic;
  id.abi_version = SPARKGAP_ABI_VERSION;
  id.pes = options_.pes;
  id.epoch = options_.epoch;
  std::memcpy(id.key, header.key, sizeof id.key);
  id.segment_bytes = segment_.bytes();
  id.pid_namespace = pid_namespace();
  id.pid = getpid();
  id.start_time = process_start_time(id.pid);
  id.fd = segment_.fd();
  Text(id.boot_id, sizeof id.boot_id).add("%s", boot_id().c_str());
  Text(id.host, sizeof id.host).add("%s", host_name().c_str());
  std::memset(bytes, 0, SPARKGAP_WORLD_ID_BYTES);
  std::memcpy(bytes, &id, sizeof id);
}

Control HostProvider::open_world(const uint8_t* bytes) {
  const HostWorldId id = parse_host_world_id(bytes, options_);
  if (options_.near_pe() != 0) {
    if (id.segment_bytes != ControlLayout::of(options_.node_pes).segment_bytes) {
      fail(SPARKGAP_UNAVAILABLE, 0, "PE 0's control segment is laid out otherwise: use one plugin jar everywhere");
    }
    segment_ = Segment::open(options_.host_directory, id.pid, id.fd, id.segment_bytes);
  }
  check_header(id.key);
  control_ = Control(segment_.base(), options_.node_pes);
  peers_ = PeerProcesses(control_);
  claim_record();
  // A peer needs no descriptor once it has the mapping; PE 0 keeps its own open until the last has come.
  if (options_.near_pe() != 0) segment_.close_descriptor();
  return control_;
}

void HostProvider::check_header(const uint64_t* key) const {
  const ControlHeader& header = *reinterpret_cast<const ControlHeader*>(segment_.base());
  if (header.magic != kHostWorldMagic || std::memcmp(header.key, key, sizeof header.key) != 0) {
    fail(SPARKGAP_UNAVAILABLE, 0,
         "the id's key does not open the world that was found: a stale id, of a world that has ended");
  }
}

void HostProvider::claim_record() {
  PeRecord& record = control_.record(options_.near_pe());
  uint32_t absent = kAbsent;
  if (!__atomic_compare_exchange_n(&record.state, &absent, kConnecting, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "PE %d has been connected to this world already, by process %d",
         options_.pe, record.pid);
  }
  record.pid = getpid();
  record.start_time = process_start_time(record.pid);
  record.cpus = cpu_limits();
  record.options.peer_timeout_ms = options_.peer_timeout_ms;
  record.options.deterministic = options_.deterministic ? 1 : 0;
  record.options.hints = options_.hints;
  record.options.tables = options_.tables;
  record.options.check = options_.check ? 1 : 0;
  Text(record.options.provider, sizeof record.options.provider).add("%s", options_.provider.c_str());
  Text(record.label, sizeof record.label).add("%s", options_.label.c_str());
  Text(record.host, sizeof record.host).add("%s", host_name().c_str());
  store_release(&record.state, kConnected);
  wake_sleepers(control_.header());
}

void HostProvider::all_connected() {
  peers_.remember_all();
  segment_.close_descriptor();
}

}  // namespace sparkgap
