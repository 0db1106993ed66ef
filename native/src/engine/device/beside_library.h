// What engine/device/beside.h needs of libsparkgap_cuda.so.
#ifndef SPARKGAP_ENGINE_DEVICE_BESIDE_LIBRARY_H
#define SPARKGAP_ENGINE_DEVICE_BESIDE_LIBRARY_H

#include <cstdint>

#include "base/error.h"
#include "protocol/beside_record.h"

namespace sparkgap {

// One PE's end of NCCL beside NVSHMEM.
class BesideLibrary {
 public:
  // On the thread that opens it, one after the other.
  virtual sparkgap_status load_beside(BesideCard* card, Text& told, Failure* failure) = 0;
  // Collective. `id`: of PE 0's card.
  virtual sparkgap_status start_beside(const uint8_t* id, Failure* failure) = 0;
  // Ends what it waits for; nobody will make a call of it. Any thread, more than once.
  virtual void drop_beside() = 0;

 protected:
  ~BesideLibrary() = default;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_BESIDE_LIBRARY_H
