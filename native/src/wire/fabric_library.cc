#include "wire/fabric_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"
#include "wire/kept_signals.h"

namespace sparkgap {
namespace {

constexpr const char* kFile = "libfabric.so.1";
// The oldest whose tcp has connected endpoints as they are used here.
constexpr uint32_t kOldest = FI_VERSION(1, 17);
// What of the interface is used; a newer library serves it as well.
constexpr uint32_t kInterface = FI_VERSION(1, 17);
constexpr uint32_t kTooNew = FI_VERSION(3, 0);

uint32_t version_of(const SharedLibrary& library) {
  const auto version = reinterpret_cast<uint32_t (*)()>(library.symbol("fi_version"));
  return version == nullptr ? 0 : version();
}

bool fits(uint32_t version) { return version >= kOldest && version < kTooNew; }

std::string text_of(uint32_t version) {
  return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

std::string problem_of(const SharedLibrary& library, const std::string& file) {
  if (!library.is_loaded()) return file + ": " + library.problem();
  return library.path() + " is libfabric " + text_of(version_of(library)) + "; 1.17 or newer, before 3, is needed";
}

SharedLibrary find(const std::string& given, bool needs_host) {
  // PSM's libraries, which a host's libfabric may load, otherwise take the JVM's signals; see KeptSignals.
  setenv("IPATH_NO_BACKTRACE", "1", 0);
  setenv("HFI_NO_BACKTRACE", "1", 0);
  const KeptSignals kept;
  if (!given.empty()) {
    SharedLibrary library = SharedLibrary::of_loader(given.c_str());
    if (library.is_loaded() && fits(version_of(library))) return library;
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "libfabric cannot be used from where spark.sparkgap.fabric.library says: %s",
         problem_of(library, given).c_str());
  }
  const std::string beside = own_folder() + "/" + kFile;
  SharedLibrary brought;
  if (!needs_host) {
    brought = SharedLibrary::of_loader(beside.c_str());
    if (brought.is_loaded() && fits(version_of(brought))) return brought;
  }
  const SharedLibrary host = SharedLibrary::of_loader(kFile);
  if (host.is_loaded() && fits(version_of(host))) return host;
  if (needs_host) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "verbs needs a libfabric of the host's: install one (Debian: libfabric1), or name it by "
         "spark.sparkgap.fabric.library. Looked at: %s",
         problem_of(host, kFile).c_str());
  }
  fail(
      SPARKGAP_UNAVAILABLE, kNoPe,
      "no libfabric for a world of several hosts: use the sparkgap-spark-plugin jar as it was built, which brings one, "
      "install one on the hosts (Debian: libfabric1), or name it by spark.sparkgap.fabric.library. Looked at: %s; %s",
      problem_of(host, kFile).c_str(), problem_of(brought, beside).c_str());
}

}  // namespace

FabricLibrary::FabricLibrary(const std::string& given, bool needs_host) : library_(find(given, needs_host)) {
  library_.require("fi_version", &functions_.version);
  library_.require("fi_getinfo", &functions_.get_info);
  library_.require("fi_freeinfo", &functions_.free_info);
  library_.require("fi_dupinfo", &functions_.dup_info);
  library_.require("fi_fabric", &functions_.fabric);
  library_.require("fi_strerror", &functions_.error_text);
}

int FabricLibrary::get_info(const char* address, const char* service, uint64_t flags, const struct fi_info* hints,
                            struct fi_info** found) const {
  const KeptSignals kept;
  return functions_.get_info(kInterface, address, service, flags, hints, found);
}

std::string FabricLibrary::version() const { return text_of(functions_.version()); }

}  // namespace sparkgap
