// One call of a collective, with all that a caller can choose, and what its result has to be.
#ifndef SPARKGAP_TEST_COLLECTIVE_CASE_H
#define SPARKGAP_TEST_COLLECTIVE_CASE_H

#include <cstdint>
#include <string>
#include <vector>

#include "support/calls.h"
#include "support/pes.h"

namespace sparkgap::test {

enum class Memory { kPrivate, kSymmetric, kSymmetricIn, kSymmetricOut };
constexpr int kMemories = 4;

struct Case {
  int32_t collective;
  const char* algorithm;  // "auto" leaves it to the selector
  int32_t type;
  int32_t op;
  uint64_t count;  // or count_per_pe; for allToAllv the most that one PE sends to another
  int32_t root;
  bool in_place;
  Memory memory;
  int shift;      // 0: arrays start where the memory does; else up to 3 elements later, on each PE another number
  uint64_t salt;  // different salts, different inputs
};

// "host/one-shot allReduce of 13 float32 SUM, in place, private memory, ..."
std::string describe(const Case& c);

// Bytes of the largest array of the case on any PE.
uint64_t array_bytes(const Case& c, int pes);

// One PE's memory for cases, and the calls.
class CaseRunner {
 public:
  // Collective. No case's array may be larger than array_bytes.
  CaseRunner(const Pe& pe, const Inputs& inputs, uint64_t array_bytes);

  // Makes the call and throws a Failure unless the result is right, what must not change has not, and nothing was
  // written behind the arrays. Returns a hash of the result where all PEs must have the same one, else 0.
  uint64_t run(const Case& c);

 private:
  struct Arrays {
    char* in;
    char* out;
  };

  Arrays arrays_of(const Case& c) const;
  void call(const Case& c, const Arrays& arrays);
  void check_result(const Case& c, const char* out) const;
  void check_reduced(const Case& c, const char* out, const Run& run) const;
  void check_copied(const Case& c, const char* out, const Run& run) const;
  void check_gaps(const Case& c, const char* out) const;

  const Pe& pe_;
  const Inputs& inputs_;
  uint64_t capacity_;
  std::vector<char> private_in_;
  std::vector<char> private_out_;
  char* symmetric_in_;
  char* symmetric_out_;
  std::vector<char> original_;  // of the input
};

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_COLLECTIVE_CASE_H
