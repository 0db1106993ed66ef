// The provider for PEs of one host: processes, threads of one process, or both. All memory is shared memory.
#ifndef SPARKGAP_PROVIDER_HOST_HOST_PROVIDER_H
#define SPARKGAP_PROVIDER_HOST_HOST_PROVIDER_H

#include "provider/host/peer_process.h"
#include "provider/host/segment.h"
#include "provider/provider.h"

namespace sparkgap {

class HostProvider final : public Provider {
 public:
  explicit HostProvider(const WorldOptions& options);

  void make_world() override;
  void write_id(uint8_t* id) const override;
  Control open_world(const uint8_t* id) override;
  void all_connected() override;
  bool has_ended(int32_t pe) override { return peers_.has_ended(pe); }
  pid_t process(int32_t pe) override { return peers_.process(pe); }

 private:
  void check_header(const uint64_t* key) const;
  void claim_record();

  const WorldOptions& options_;
  Segment segment_;
  Control control_;
  PeerProcesses peers_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_HOST_PROVIDER_H
