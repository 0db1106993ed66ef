#include "engine/device/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>
#include <string>

namespace sparkgap {
namespace {

constexpr const char* kFile = "libsparkgap_cuda.so";

// Where the code of this function was loaded from.
std::string own_path() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&device_library), &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

DeviceLibrary& load() {
  const std::string own = own_path();
  const size_t slash = own.rfind('/');
  const std::string path = (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + kFile;
  if (access(path.c_str(), F_OK) != 0) {
    fail(
        SPARKGAP_UNAVAILABLE, kNoPe,
        "this build of Sparkgap has no GPU code: there is no %s, which a build with GPUs has beside %s. Use a jar that "
        "was built with it (mvn package -Pcuda), or spark.sparkgap.provider=host",
        path.c_str(), own.c_str());
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "%s cannot be loaded: %s", path.c_str(), dlerror());
  }
  const auto function = reinterpret_cast<DeviceLibraryFunction>(dlsym(handle, kDeviceLibraryFunction));
  DeviceLibrary* library = function == nullptr ? nullptr : function();
  if (library == nullptr || library->interface_number() != kDeviceInterface) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "%s is of another build than %s: two releases are mixed. Keep one Sparkgap jar on the class path, and empty "
         "the folder that it is extracted into",
         path.c_str(), own.c_str());
  }
  return *library;
}

}  // namespace

DeviceLibrary& device_library() {
  static std::mutex mutex;
  static DeviceLibrary* loaded = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (loaded == nullptr) loaded = &load();
  return *loaded;
}

}  // namespace sparkgap
