// libfabric, looked up at run time. The few functions that are not inline in its headers.
#ifndef SPARKGAP_WIRE_FABRIC_LIBRARY_H
#define SPARKGAP_WIRE_FABRIC_LIBRARY_H

#include <rdma/fabric.h>

#include <memory>
#include <string>

#include "cuda/shared_library.h"

namespace sparkgap {

struct FabricFunctions {
  uint32_t (*version)();
  int (*get_info)(uint32_t, const char*, const char*, uint64_t, const struct fi_info*, struct fi_info**);
  void (*free_info)(struct fi_info*);
  struct fi_info* (*dup_info)(const struct fi_info*);
  int (*fabric)(struct fi_fabric_attr*, struct fid_fabric**, void*);
  const char* (*error_text)(int);
};

struct FabricInfoDeleter {
  void (*free_info)(struct fi_info*) = nullptr;
  void operator()(struct fi_info* info) const { free_info(info); }
};
using FabricInfo = std::unique_ptr<struct fi_info, FabricInfoDeleter>;

class FabricLibrary {
 public:
  // `given`: a path; then nothing else is tried. Otherwise the one that came with this library, beside it; where that
  // is missing, or the host's own is needed for its network card, the host's. Which of the two is newer is not asked:
  // to ask is to load it, with all that it brings into the process. Throws UNAVAILABLE with what was looked at.
  FabricLibrary(const std::string& given, bool needs_host);

  // fi_getinfo, which may load further libraries of libfabric's providers.
  int get_info(const char* address, const char* service, uint64_t flags, const struct fi_info* hints,
               struct fi_info** found) const;

  const FabricFunctions& functions() const { return functions_; }
  const std::string& path() const { return library_.path(); }
  std::string version() const;  // "2.5" (the interface's; the library tells no more)

  FabricInfo duplicate(const struct fi_info* info) const { return own(functions_.dup_info(info)); }
  FabricInfo own(struct fi_info* info) const { return FabricInfo(info, {functions_.free_info}); }

 private:
  SharedLibrary library_;
  FabricFunctions functions_ = {};
};

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_FABRIC_LIBRARY_H
