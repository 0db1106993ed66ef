#include "engine/device/cuda/only_world.h"

#include <mutex>
#include <string>

#include "base/error.h"

namespace sparkgap {
namespace {

std::mutex world_mutex;
std::string world_there;  // the PE that this process is; guarded
std::string world_stuck;  // why it can be none any more; guarded

}  // namespace

OnlyWorld::OnlyWorld(const DeviceWorldOptions& options) {
  const std::lock_guard<std::mutex> lock(world_mutex);
  if (!world_stuck.empty()) {
    fail(SPARKGAP_DEVICE_FAILED, kNoPe,
         "this process can have no GPU world any more: %s, while the GPU was at work for it. The process must be "
         "replaced",
         world_stuck.c_str());
  }
  if (!world_there.empty()) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "this process is %s already, and can be one PE of one GPU world at a time: destroy that first, and give each "
         "executor one task of a barrier stage on GPUs (spark.executor.cores = spark.task.cpus)",
         world_there.c_str());
  }
  char text[128];
  Text(text, sizeof text)
      .add("PE %d of the %s world of epoch %llu", options.pe, options.provider,
           static_cast<unsigned long long>(options.epoch));
  world_there = text;
}

OnlyWorld::~OnlyWorld() {
  const std::lock_guard<std::mutex> lock(world_mutex);
  world_there.clear();
}

void OnlyWorld::allow_no_more(const char* reason) {
  const std::lock_guard<std::mutex> lock(world_mutex);
  world_stuck = reason;
}

}  // namespace sparkgap
