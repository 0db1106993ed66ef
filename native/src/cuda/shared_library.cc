#include "cuda/shared_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "base/error.h"

namespace sparkgap {

const LibraryName kNvshmemLibrary = {"NVSHMEM",
                                     {"libnvshmem_host.so.3", "libnvshmem_host.so"},
                                     "spark.sparkgap.nvshmem.library",
                                     "NVSHMEM_HOME",
                                     "nvshmem",
                                     "nvidia-nvshmem-cu13"};
const LibraryName kNcclLibrary = {
    "NCCL", {"libnccl.so.2", "libnccl.so"}, "spark.sparkgap.nccl.library", "NCCL_HOME", "nccl", "nvidia-nccl-cu13"};

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void add_prefix(const std::string& prefix, std::vector<std::string>* folders) {
  if (prefix.empty()) return;
  for (const char* lib : {"/lib", "/lib64", "/local/lib"}) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const std::string& folder : matches_of(prefix + lib + "/python3*/" + packages)) folders->push_back(folder);
    }
  }
}

std::string above_bin(const std::string& program) {
  const size_t name = program.rfind('/');
  const size_t bin = name == std::string::npos || name == 0 ? name : program.rfind('/', name - 1);
  return bin == std::string::npos ? "" : program.substr(0, bin);
}

// An interpreter of a virtual environment is a link, and its packages are beside the link; else they are beside the
// file.
void add_interpreter(const std::string& program, std::vector<std::string>* folders) {
  std::string path = program;
  if (path.find('/') == std::string::npos) {
    for (const std::string& folder : split(variable("PATH"))) {
      path = folder + "/" + program;
      if (access(path.c_str(), X_OK) == 0) break;
    }
  }
  char real[PATH_MAX];
  if (access(path.c_str(), X_OK) != 0 || realpath(path.c_str(), real) == nullptr) return;
  add_prefix(above_bin(path), folders);
  add_prefix(above_bin(real), folders);
}

}  // namespace

std::vector<std::string> python_site_packages() {
  std::vector<std::string> folders;
  add_prefix(variable("VIRTUAL_ENV"), &folders);
  add_prefix(variable("CONDA_PREFIX"), &folders);
  for (const std::string& folder : split(variable("PYTHONPATH"))) folders.push_back(folder);
  const std::string pyspark = variable("PYSPARK_PYTHON");
  if (!pyspark.empty()) add_interpreter(pyspark, &folders);
  add_interpreter("python3", &folders);
  const std::string home = variable("HOME");
  if (!home.empty()) {
    for (const std::string& folder : matches_of(home + "/.local/lib/python3*/site-packages")) folders.push_back(folder);
  }
  std::vector<std::string> once;
  for (const std::string& folder : folders) {
    if (std::find(once.begin(), once.end(), folder) == once.end()) once.push_back(folder);
  }
  return once;
}

SharedLibrary SharedLibrary::find(const LibraryName& name, const std::string& given) {
  SharedLibrary library;
  std::string looked;
  const auto try_file = [&](const std::string& file) {
    if (library.load(file)) return true;
    looked += "; " + library.problem_;
    return false;
  };
  if (!given.empty()) {
    if (try_file(given)) return library;
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "%s cannot be loaded from %s, which %s names%s", name.product, given.c_str(),
         name.key, looked.c_str());
  }
  const std::string home = variable(name.home_variable);
  if (home.empty()) {
    looked += std::string("; ") + name.home_variable + " is not set";
  } else {
    for (const char* folder : {"/lib/", "/lib64/"}) {
      for (const char* file : name.files) {
        if (try_file(home + folder + file)) return library;
      }
    }
  }
  for (const char* file : name.files) {
    if (try_file(file)) return library;
  }
  const std::vector<std::string> packages = python_site_packages();
  for (const std::string& folder : packages) {
    for (const char* file : name.files) {
      const std::string path = folder + "/nvidia/" + name.python_folder + "/lib/" + file;
      if (access(path.c_str(), F_OK) == 0 && try_file(path)) return library;
    }
  }
  looked += std::string("; no nvidia/") + name.python_folder + "/lib with it in Python's site-packages (";
  for (const std::string& folder : packages) looked += (folder == packages.front() ? "" : ", ") + folder;
  looked += packages.empty() ? "there are none)" : ")";
  fail(SPARKGAP_UNAVAILABLE, kNoPe,
       "%s was not found. Install it (pip install %s) or name it by %s=<path of %s>. "
       "Looked at: %s is not set%s",
       name.product, name.wheel, name.key, name.files[0], name.key, looked.c_str());
}

SharedLibrary SharedLibrary::of_loader(const char* file) {
  SharedLibrary library;
  library.load(file);
  return library;
}

bool SharedLibrary::load(const std::string& file) {
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    problem_ = dlerror();
    return false;
  }
  link_map* map = nullptr;
  path_ = dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0' ? map->l_name : file;
  return true;
}

void* SharedLibrary::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

void* SharedLibrary::required_symbol(const char* name) const {
  void* found = symbol(name);
  if (found == nullptr) fail(SPARKGAP_UNAVAILABLE, kNoPe, "%s has no function %s", path_.c_str(), name);
  return found;
}

}  // namespace sparkgap
