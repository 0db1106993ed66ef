// The fused product of examples/ (product_kernels.h) in whole worlds: a product by cuBLAS whose slices are exchanged by
// sparkgap/device.cuh beside it. Left out where there is no cuBLAS; CUBLAS_LIBRARY names one that the loader does not
// find.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gpu/worlds.h"
#include "product_kernels.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

struct Shape {
  int rows;
  int columns;
  int inner;  // of one PE
};

void fine(int status) { expect(status == 0, "%s", product_problem()); }

uint64_t bytes_of(int a, int b) { return static_cast<uint64_t>(a) * static_cast<uint64_t>(b) * sizeof(uint16_t); }

float of_bits(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// The nearest bfloat16, of two the even one.
float rounded(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return of_bits(static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}

// As product_fill makes it.
float filled(uint32_t index, uint32_t seed) {
  uint32_t hash = (index + seed) * 2654435761u;
  hash = (hash ^ hash >> 15) * 2246822519u;
  hash ^= hash >> 13;
  return (static_cast<float>((hash >> 8) % 9) - 4) / 8;
}

// One PE's matrices of two kinds, and where their products go.
class Matrices {
 public:
  static constexpr int kKinds = 2;

  Matrices(const Pe& pe, const Shape& shape) : pe_(pe), shape_(shape) {
    pe.ok(sparkgap_world_device(pe.world(), &world_), "sparkgap_world_device");
    fine(product_open(library(), stream(), &worker_));
    for (int kind = 0; kind < kKinds; ++kind) {
      left_[kind] = memory(bytes_of(shape.rows, shape.inner));
      right_[kind] = memory(bytes_of(shape.columns, shape.inner));
      // Of the second kind the PEs have the inner dimension from another place on.
      fine(product_fill(stream(), pe.pe() + kind * pe.pes(), pe.pes(), shape.rows, shape.columns, shape.inner,
                        left_[kind], right_[kind]));
    }
    const uint64_t all = bytes_of(shape.rows, shape.columns);
    product_ = memory(all);
    out_ = pe.allocate(all);
    received_ = view(pe.allocate(all));
    signals_ = view(pe.allocate(PRODUCT_SIGNAL_BYTES));
    // cuBLAS loads its kernels as it comes to them, which no kernel of ours may wait for.
    for (int slices = 1; slices <= PRODUCT_SLICES; slices *= 2) {
      fine(product_multiply(worker_, stream(), shape.rows / pe.pes() / slices, shape.columns, shape.inner, left_[0],
                            right_[0], product_));
    }
    fine(product_multiply(worker_, stream(), shape.rows, shape.columns, shape.inner, left_[0], right_[0], product_));
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    synchronize(pe);
  }
  ~Matrices() { product_close(worker_); }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;

  // Empty: by its names.
  static const char* library() {
    const char* const set = std::getenv("CUBLAS_LIBRARY");
    return set == nullptr ? "" : set;
  }

  void in_turn(int kind, bool gathers) const {
    fine(product_multiply(worker_, stream(), shape_.rows, shape_.columns, shape_.inner, left_[kind], right_[kind],
                          product_));
    const uint64_t count = bytes_of(shape_.rows, shape_.columns) / sizeof(uint16_t);
    void* const to = sparkgap_buffer_address(out_);
    if (gathers) {
      pe_.ok(sparkgap_all_reduce(pe_.world(), product_, to, count, SPARKGAP_BFLOAT16, SPARKGAP_SUM), "all_reduce");
    } else {
      pe_.ok(sparkgap_reduce_scatter(pe_.world(), product_, to, count / static_cast<uint64_t>(pe_.pes()),
                                     SPARKGAP_BFLOAT16, SPARKGAP_SUM),
             "reduce_scatter");
    }
  }

  int fused(int kind, bool gathers, int slices) const {
    const sparkgap_device_buffer out = view(out_);
    return product_fused(worker_, stream(), &world_, &received_, &out, &signals_, shape_.rows, shape_.columns,
                         shape_.inner, slices, gathers ? 1 : 0, left_[kind], right_[kind], product_);
  }

  // What has come out, and the place for it emptied.
  std::vector<uint16_t> result(bool gathers) const {
    const uint64_t all = bytes_of(shape_.rows, shape_.columns);
    std::vector<uint16_t> values(all / sizeof(uint16_t) / static_cast<uint64_t>(gathers ? 1 : pe_.pes()));
    const uint64_t bytes = values.size() * sizeof(uint16_t);
    pe_.ok(sparkgap_get(pe_.world(), values.data(), out_, 0, bytes, pe_.pe()), "sparkgap_get");
    cuda_ok(cudaMemsetAsync(sparkgap_buffer_address(out_), 0xff, bytes, static_cast<cudaStream_t>(stream())), "memset");
    pe_.ok(sparkgap_barrier(pe_.world()), "barrier");
    synchronize(pe_);
    return values;
  }

  // Whether that is what an element of the sum of kind 0 can be. The PEs' parts are rounded as they travel; that of the
  // PE whose row it is may be or not before it is added to those of the others, in which cuBLAS is free.
  bool can_be(int row, int column, float value, bool in_turn) const {
    const int owner = row / (shape_.rows / pe_.pes());
    float others = 0;
    float sum = 0;
    for (int pe = 0; pe < pe_.pes(); ++pe) {
      sum += rounded(part(row, column, pe));
      if (pe != owner) others += rounded(part(row, column, pe));
    }
    if (in_turn) return value == rounded(sum);
    const float own = part(row, column, owner);
    return value == rounded(rounded(others) + own) || value == rounded(rounded(others) + rounded(own));
  }

 private:
  float part(int row, int column, int pe) const {
    float part = 0;
    for (int i = 0; i < shape_.inner; ++i) {
      const auto inner = static_cast<uint32_t>(shape_.inner * pe_.pes());
      const auto at = static_cast<uint32_t>(pe * shape_.inner + i);
      part += filled(static_cast<uint32_t>(row) * inner + at, 1) *
              filled(static_cast<uint32_t>(column) * inner + at, 77'777'777);
    }
    return part;
  }
  void* stream() const { return sparkgap_world_stream(pe_.world()); }
  void* memory(uint64_t bytes) const { return sparkgap_buffer_address(pe_.allocate(bytes)); }
  sparkgap_device_buffer view(sparkgap_buffer* buffer) const {
    sparkgap_device_buffer found;
    pe_.ok(sparkgap_buffer_device(pe_.world(), buffer, &found), "sparkgap_buffer_device");
    return found;
  }

  const Pe& pe_;
  const Shape shape_;
  sparkgap_device_world world_ = {};
  int64_t worker_ = 0;
  void* left_[kKinds] = {};
  void* right_[kKinds] = {};
  void* product_ = nullptr;
  sparkgap_buffer* out_ = nullptr;
  sparkgap_device_buffer received_ = {};
  sparkgap_device_buffer signals_ = {};
};

// Says why, if there is no cuBLAS on this host.
bool cannot_multiply(const Pe& pe) {
  int64_t worker = 0;
  if (product_open(Matrices::library(), sparkgap_world_stream(pe.world()), &worker) != 0) {
    std::printf("     left out: %s\n", product_problem());
    return true;
  }
  product_close(worker);
  return false;
}

void a_fused_product_is_the_product_and_the_sum() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    if (cannot_multiply(pe)) return;
    for (const Shape shape : {Shape{pe.pes() * 8, 8, 16}, Shape{pe.pes() * 72, 1032, 264}, Shape{2048, 2048, 512}}) {
      const Matrices matrices(pe, shape);
      for (const bool gathers : {false, true}) {
        std::vector<uint16_t> in_turn[Matrices::kKinds];
        for (int kind = 0; kind < Matrices::kKinds; ++kind) {
          matrices.in_turn(kind, gathers);
          in_turn[kind] = matrices.result(gathers);
        }
        const auto look_at = [&](const std::vector<uint16_t>& found, bool is_in_turn) {
          const int first = gathers ? 0 : pe.pe() * (shape.rows / pe.pes());
          for (size_t i = 0; i < found.size(); i += 1 + found.size() / 50) {
            const int row = first + static_cast<int>(i) / shape.columns;
            expect(matrices.can_be(row, static_cast<int>(i) % shape.columns, of_bits(found[i]), is_in_turn),
                   "element %zu of %d x %d is %g", i, shape.rows, shape.columns,
                   static_cast<double>(of_bits(found[i])));
          }
        };
        look_at(in_turn[0], true);
        for (int slices = 1; slices <= PRODUCT_SLICES; slices *= 2) {
          std::vector<uint16_t> sums[Matrices::kKinds];
          for (int kind = 0; kind < Matrices::kKinds; ++kind) {
            fine(matrices.fused(kind, gathers, slices));
            sums[kind] = matrices.result(gathers);
            for (size_t i = 0; i < sums[kind].size(); ++i) {
              const float a = of_bits(sums[kind][i]);
              const float b = of_bits(in_turn[kind][i]);
              // As much as parts up to 16, and sums of theirs up to 32, are rounded.
              expect(std::abs(a - b) <= 0.125f + std::abs(b) / 64, "element %zu is %g, and %g in turn", i,
                     static_cast<double>(a), static_cast<double>(b));
            }
          }
          look_at(sums[0], false);
          // Runs follow each other with data that differs, by themselves and as a step.
          sparkgap_step* const step = record(pe, [&] {
            fine(matrices.fused(1, gathers, slices));
            fine(matrices.fused(0, gathers, slices));
          });
          for (int runs = 1; runs <= 4; ++runs) {
            for (int i = 1; i < runs; ++i) run(pe, step);
            fine(matrices.fused(runs % 2, gathers, slices));
            const std::vector<uint16_t> found = matrices.result(gathers);
            expect(found == sums[runs % 2], "%d x %d of %d, %d slices, %s, after %d runs", shape.rows, shape.columns,
                   shape.inner, slices, gathers ? "gathered" : "scattered", runs);
          }
          pe.ok(sparkgap_step_destroy(pe.world(), step), "sparkgap_step_destroy");
        }
      }
    }
  });
}

void a_fused_product_that_does_not_fit_is_refused() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    if (cannot_multiply(pe)) return;
    const Matrices matrices(pe, {pe.pes() * 8, 8, 16});
    for (const int slices : {0, 3, 16}) {
      expect(matrices.fused(0, true, slices) != 0, "%d slices were taken", slices);
      expect(std::strstr(product_problem(), "cannot be made in") != nullptr, "%s", product_problem());
    }
  });
}

void a_fused_product_gives_up_on_a_pe_that_does_not_come() {
  if (has_no_peer() || spans_nodes()) return;
  Pes pes = world_of;
  pes.peer_timeout_ms = 4000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    if (cannot_multiply(pe)) return;
    const Matrices matrices(pe, {pe.pes() * 64, 64, 64});
    if (pe.pe() == 1) {
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    fine(matrices.fused(0, false, 2));
    expect_failure(pe.world(), sparkgap_synchronize(pe.world()), SPARKGAP_TIMED_OUT,
                   {"a kernel of the caller's", "4000 ms"});
    ended->fetch_add(1);
  });
}

}  // namespace

std::vector<Test> tests_of_products() {
  return {
      {"a_fused_product_is_the_product_and_the_sum", a_fused_product_is_the_product_and_the_sum},
      {"a_fused_product_that_does_not_fit_is_refused", a_fused_product_that_does_not_fit_is_refused},
      {"a_fused_product_gives_up_on_a_pe_that_does_not_come", a_fused_product_gives_up_on_a_pe_that_does_not_come},
  };
}

}  // namespace sparkgap::test
