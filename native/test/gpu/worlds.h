// What the tests of whole GPU worlds share: which world a run is about, and floats in symmetric buffers.
#ifndef SPARKGAP_TEST_GPU_WORLDS_H
#define SPARKGAP_TEST_GPU_WORLDS_H

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {

extern int gpus_here;
extern Pes world_of;  // provider, PEs and GPUs of this run

// Prints what there is.
int count_gpus();

void cuda_ok(cudaError_t error, const char* what);
void synchronize(const Pe& pe);

// This PE's part of a buffer.
std::vector<float> read(const Pe& pe, sparkgap_buffer* buffer, size_t count, uint64_t offset = 0);
void write(const Pe& pe, sparkgap_buffer* buffer, const std::vector<float>& values, uint64_t offset = 0);

// Element i of PE `pe`; sums of these over PEs are exact.
float element(int pe, size_t i);
std::vector<float> elements(int pe, size_t count);
std::vector<float> sum_of(int pes, size_t count);
void expect_equal(const std::vector<float>& actual, const std::vector<float>& expected, const char* what);

// Says so if this run has one PE only.
bool has_no_peer();

// Whether the PEs are on several nodes, where NCCL has all collectives; says so.
bool spans_nodes();

// Connects a world that was created by the process of PE `pe`, the how manyth of its run; ids and cards go through
// memory that the processes share.
constexpr int kMostWorlds = 8;
constexpr int kMostPes = 16;
struct Meetings {
  std::atomic<int> made[kMostWorlds];
  uint8_t ids[kMostWorlds][SPARKGAP_WORLD_ID_BYTES];
  uint8_t cards[kMostWorlds][kMostPes][SPARKGAP_CARD_BYTES];
};
void connect(sparkgap_world* world, int pe, Meetings& meetings, int number);

// The tests, by what they are about.
std::vector<Test> tests_of_worlds();
std::vector<Test> tests_of_beside();
std::vector<Test> tests_of_calls();
std::vector<Test> tests_of_streams();
std::vector<Test> tests_of_steps();
std::vector<Test> tests_of_rows();
std::vector<Test> tests_of_programs();
std::vector<Test> tests_of_resident();
std::vector<Test> tests_of_device_code();
std::vector<Test> tests_of_products();
std::vector<Test> tests_of_losses();
std::vector<Test> tests_of_nodes();

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_GPU_WORLDS_H
