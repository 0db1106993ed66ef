// What of cuBLAS is used here, loaded when the program runs: a build needs none of it, and versions 12 and 13 have
// these functions alike.
#ifndef SPARKGAP_EXAMPLES_CUBLAS_H
#define SPARKGAP_EXAMPLES_CUBLAS_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace product {

class Cublas {
 public:
  Cublas() = default;
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Loads `path`, or if it is empty the first of its names that the loader finds. Throws a std::runtime_error that says
  // what was looked for.
  void load(const std::string& path);

  // For the GPU that is current; once, when it is loaded. Throws.
  void open();

  // product[rows][columns] = left[rows][inner] x right[columns][inner]' of bfloat16, summed in float and rounded; if it
  // `adds`, added to what was in `product` before, whether rounded before that or not. Throws.
  void multiply(cudaStream_t stream, bool adds, int rows, int columns, int inner, const void* left, const void* right,
                void* product);

 private:
  struct Functions;
  void check(int status, const char* call) const;

  void* library_ = nullptr;
  Functions* functions_ = nullptr;
  void* handle_ = nullptr;
  void* workspace_ = nullptr;
};

// Throws CUDA's sentence if it is not success.
void require(cudaError_t error, const char* what);

}  // namespace product

#endif  // SPARKGAP_EXAMPLES_CUBLAS_H
