// A library that is looked up when it is needed and never linked: NVSHMEM, NCCL, NVML, the CUDA driver.
#ifndef SPARKGAP_CUDA_SHARED_LIBRARY_H
#define SPARKGAP_CUDA_SHARED_LIBRARY_H

#include <string>
#include <vector>

namespace sparkgap {

// What to look for, in the order of docs/gpu.md.
struct LibraryName {
  const char* product;        // "NVSHMEM"
  const char* files[2];       // the versioned name first
  const char* key;            // "spark.sparkgap.nvshmem.library"
  const char* home_variable;  // "NVSHMEM_HOME"
  const char* python_folder;  // "nvshmem": nvidia/<this>/lib in site-packages
  const char* wheel;          // "nvidia-nvshmem-cu13", for messages
};

extern const LibraryName kNvshmemLibrary;
extern const LibraryName kNcclLibrary;

class SharedLibrary {
 public:
  SharedLibrary() = default;

  // The first that can be loaded. `given`: the path that the user gave; if it is not empty nothing else is tried.
  // Throws UNAVAILABLE with every place that was looked at and what was wrong there. The library stays loaded for ever.
  static SharedLibrary find(const LibraryName& name, const std::string& given);

  // Of a name that the loader knows; throws nothing: see is_loaded.
  static SharedLibrary of_loader(const char* file);

  bool is_loaded() const { return handle_ != nullptr; }
  // The file that was loaded, as the loader names it.
  const std::string& path() const { return path_; }
  // Why of_loader could not.
  const std::string& problem() const { return problem_; }

  // nullptr if it has none of that name.
  void* symbol(const char* name) const;
  // Throws UNAVAILABLE, naming the library and its path.
  template <class Function>
  void require(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(required_symbol(name));
  }

 private:
  bool load(const std::string& file);
  void* required_symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
  std::string problem_;
};

// The site-packages folders of the active Python: of $VIRTUAL_ENV, $CONDA_PREFIX, what is on $PYTHONPATH, of
// $PYSPARK_PYTHON, of the python3 that $PATH finds, and the user's own. Only what exists.
std::vector<std::string> python_site_packages();

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_SHARED_LIBRARY_H
