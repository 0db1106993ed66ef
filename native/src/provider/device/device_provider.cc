#include "provider/device/device_provider.h"

#include "base/clock.h"
#include "base/error.h"

namespace sparkgap {

void DeviceProvider::check_deadline(int64_t start_us, const char* what) const {
  if (!stopping_ && __atomic_load_n(abort_state_, __ATOMIC_ACQUIRE) != 0) {
    fail(SPARKGAP_ABORTED, kNoPe, "the world was aborted while %s %s", product(), what);
  }
  if (now_us() - start_us < options_.peer_timeout_ms * 1000) return;
  fail(SPARKGAP_TIMED_OUT, kNoPe, "%s (%s) %s for %lld ms and was not done (spark.sparkgap.peer.timeout)", product(),
       library_path().c_str(), what, static_cast<long long>(options_.peer_timeout_ms));
}

}  // namespace sparkgap
