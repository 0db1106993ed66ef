// A control segment in this process's own memory, all zeros but for the number of PEs, for tests of what reads
// one.
#ifndef SPARKGAP_TEST_SUPPORT_CONTROL_MEMORY_H
#define SPARKGAP_TEST_SUPPORT_CONTROL_MEMORY_H

#include <cstdlib>
#include <cstring>
#include <memory>

#include "protocol/control.h"
#include "support/check.h"

namespace sparkgap::test {

class ControlMemory {
 public:
  explicit ControlMemory(int32_t pes) {
    const uint64_t bytes = ControlLayout::of(pes).segment_bytes;
    memory_.reset(std::aligned_alloc(kPageBytes, bytes));
    expect(memory_ != nullptr, "no memory");
    std::memset(memory_.get(), 0, bytes);
    control_ = Control(memory_.get(), pes);
    control_.header().world_pes = pes;
  }

  const Control& control() const { return control_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::unique_ptr<void, Free> memory_;
  Control control_;
};

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_CONTROL_MEMORY_H
