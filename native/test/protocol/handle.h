// A PE's end of a world for tests that connect it themselves, or do not.
#ifndef SPARKGAP_TEST_PROTOCOL_HANDLE_H
#define SPARKGAP_TEST_PROTOCOL_HANDLE_H

#include <string>

#include "sparkgap/sparkgap.h"

namespace sparkgap::test {

// Made by this thread. `directory`: "" for memory in no file system. Only tests of the limit itself give a short one.
class Handle {
 public:
  explicit Handle(int pe, int pes = 2, uint64_t epoch = 5, const char* directory = "", bool check = false,
                  int64_t peer_timeout_ms = 20000) {
    const std::string label = "test PE " + std::to_string(pe);
    sparkgap_world_options options{};
    options.pe = pe;
    options.pes = pes;
    options.epoch = epoch;
    options.peer_timeout_ms = peer_timeout_ms;
    options.check = check ? 1 : 0;
    options.provider = "host";
    options.label = label.c_str();
    options.host_directory = directory;
    created_ = sparkgap_world_create(&options, &world_);
  }
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void close() {
    sparkgap_world_destroy(world_);
    world_ = nullptr;
  }
  operator sparkgap_world*() const { return world_; }
  sparkgap_status created() const { return created_; }

 private:
  sparkgap_world* world_ = nullptr;
  sparkgap_status created_;
};

}  // namespace sparkgap::test

#endif  // SPARKGAP_TEST_PROTOCOL_HANDLE_H
