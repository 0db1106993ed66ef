#include "provider/host/world_id.h"

#include <cstring>

#include "provider/host/identity.h"

namespace sparkgap {

HostWorldId parse_host_world_id(const uint8_t* bytes, const WorldOptions& options) {
  HostWorldId id;
  std::memcpy(&id, bytes, sizeof id);
  if (id.magic != kHostWorldMagic) {
    fail(SPARKGAP_INVALID_ARGUMENT, 0, "these bytes are not the id of a world of the host provider");
  }
  // Strings come from another process: end them before they are printed.
  id.boot_id[sizeof id.boot_id - 1] = '\0';
  id.host[sizeof id.host - 1] = '\0';
  if (id.abi_version != SPARKGAP_ABI_VERSION) {
    fail(SPARKGAP_UNAVAILABLE, 0, "PE %d runs libsparkgap of ABI %d, PE 0 of ABI %u: use one plugin jar everywhere",
         options.pe, SPARKGAP_ABI_VERSION, id.abi_version);
  }
  if (boot_id() != id.boot_id) {
    fail(SPARKGAP_UNAVAILABLE, 0,
         "PE %d is on host %s, the segment on host %s: the host provider joins PEs of one host. Give the application "
         "executors of one host only",
         options.pe, host_name().c_str(), id.host);
  }
  if (id.pes != options.pes || id.epoch != options.epoch) {
    fail(SPARKGAP_INVALID_ARGUMENT, 0,
         "PE %d expects a world of %d PEs, epoch %llu, but the id is of one of %d PEs, epoch %llu: an id of another "
         "attempt",
         options.pe, options.pes, static_cast<unsigned long long>(options.epoch), id.pes,
         static_cast<unsigned long long>(id.epoch));
  }
  if (pid_namespace() != id.pid_namespace) {
    fail(SPARKGAP_UNAVAILABLE, 0,
         "PE %d and PE 0 are both on host %s but in different PID namespaces, so neither can see the other's memory. "
         "Run the executors in one container, or share the namespace (Docker: --pid, Kubernetes: "
         "shareProcessNamespace)",
         options.pe, id.host);
  }
  const uint64_t start_time = process_start_time(id.pid);
  if (start_time != id.start_time) {
    fail(SPARKGAP_PEER_LOST, 0,
         "process %d of PE 0 is gone%s: it ended before PE %d connected, or /proc hides it (mount option hidepid)",
         id.pid, start_time == 0 ? "" : " and its PID given to another", options.pe);
  }
  return id;
}

}  // namespace sparkgap
