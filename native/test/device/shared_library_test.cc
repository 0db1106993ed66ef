// Where NVSHMEM and NCCL are looked for, in which order, and what is said when there are none.
#include "cuda/shared_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "sparkgap/sparkgap.h"
#include "support/check.h"
#include "support/temporary_folder.h"

namespace sparkgap::test {
namespace {

namespace fs = std::filesystem;

// A folder for one test, with an environment that has nothing of the machine's.
class Place {
 public:
  Place() {
    for (const char* variable :
         {"NVSHMEM_HOME", "NCCL_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYSPARK_PYTHON"}) {
      unsetenv(variable);
    }
    setenv("PATH", folder_.path().c_str(), 1);
    setenv("HOME", folder_.path().c_str(), 1);
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  // A library that can be loaded: a copy of our own, which is another to the loader.
  std::string add_library(const std::string& name) const {
    Dl_info info = {};
    dladdr(reinterpret_cast<const void*>(&sparkgap_abi_version), &info);
    fs::copy_file(info.dli_fname, folder_.place(name));
    return path(name);
  }

  std::string add_file(const std::string& name) const {
    FILE* file = std::fopen(folder_.place(name).c_str(), "w");
    std::fputs("#!/bin/sh\n", file);
    std::fclose(file);
    fs::permissions(path(name), fs::perms::owner_all);
    return path(name);
  }

 private:
  TemporaryFolder folder_;
};

std::string found(const LibraryName& name, const std::string& given = "") {
  return SharedLibrary::find(name, given).path();
}

void expect_path(const std::string& path, const std::string& expected) {
  expect(path == expected, "found %s instead of %s", path.c_str(), expected.c_str());
}

void expect_nothing(const LibraryName& name, const std::string& given, const std::vector<std::string>& parts) {
  try {
    const std::string path = found(name, given);
    expect(false, "found %s", path.c_str());
  } catch (const sparkgap::Failure& failure) {
    expect(failure.status == SPARKGAP_UNAVAILABLE, "status %d", failure.status);
    for (const std::string& part : parts) {
      expect(std::strstr(failure.message, part.c_str()) != nullptr, "\"%s\" is not in: %s", part.c_str(),
             failure.message);
    }
  }
}

void with_nothing_to_be_found_every_place_is_named() {
  const Place place;
  expect_nothing(kNvshmemLibrary, "",
                 {"NVSHMEM was not found", "pip install nvidia-nvshmem-cu13",
                  "spark.sparkgap.nvshmem.library=<path of libnvshmem_host.so.3>", "NVSHMEM_HOME is not set",
                  "libnvshmem_host.so.3: cannot open", "no nvidia/nvshmem/lib", "site-packages (there are none)"});
  expect_nothing(kNcclLibrary, "",
                 {"NCCL was not found", "spark.sparkgap.nccl.library is not set", "NCCL_HOME is not set",
                  "libnccl.so.2", "no nvidia/nccl/lib"});
}

void the_path_that_is_given_is_the_only_one() {
  const Place place;
  const std::string given = place.add_library("given/libnccl.so.2");
  setenv("NCCL_HOME", place.path("home").c_str(), 1);
  place.add_library("home/lib/libnccl.so.2");
  expect_path(found(kNcclLibrary, given), given);
  expect_nothing(kNcclLibrary, place.path("absent.so"),
                 {"NCCL cannot be loaded from " + place.path("absent.so"), "spark.sparkgap.nccl.library"});
}

void the_home_comes_before_python_and_the_versioned_name_first() {
  const Place place;
  setenv("NCCL_HOME", place.path("home").c_str(), 1);
  setenv("VIRTUAL_ENV", place.path("venv").c_str(), 1);
  const std::string in_python = place.add_library("venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2");
  expect_path(found(kNcclLibrary), in_python);
  const std::string plain = place.add_library("home/lib/libnccl.so");
  expect_path(found(kNcclLibrary), plain);
  const std::string versioned = place.add_library("home/lib/libnccl.so.2");
  expect_path(found(kNcclLibrary), versioned);
}

void a_home_without_the_library_is_said_and_passed_over() {
  const Place place;
  setenv("NVSHMEM_HOME", place.path("home").c_str(), 1);
  expect_nothing(kNvshmemLibrary, "", {place.path("home") + "/lib/libnvshmem_host.so.3: cannot open"});
}

void a_file_that_is_no_library_is_said_and_passed_over() {
  const Place place;
  setenv("NCCL_HOME", place.path("home").c_str(), 1);
  setenv("PYTHONPATH", place.path("packages").c_str(), 1);
  const std::string broken = place.add_file("home/lib/libnccl.so.2");
  const std::string good = place.add_library("packages/nvidia/nccl/lib/libnccl.so.2");
  expect_path(found(kNcclLibrary), good);
  fs::remove(good);
  expect_nothing(kNcclLibrary, "", {broken, "too short", place.path("packages")});
}

void pythons_are_looked_at_in_the_order_of_their_activity() {
  const Place place;
  place.add_file("spark/bin/python3");
  // As in a virtual environment: the interpreter is a link to one that has packages of its own.
  fs::create_directories(place.path("default/bin"));
  fs::create_symlink(place.add_file("system/bin/python3"), place.path("default/bin/python3"));
  for (const char* prefix : {"venv", "conda", "spark", "default", "system"}) {
    fs::create_directories(place.path(std::string(prefix) + "/lib/python3.12/site-packages"));
  }
  fs::create_directories(place.path("default/lib/python3/dist-packages"));
  fs::create_directories(place.path(".local/lib/python3.12/site-packages"));
  setenv("VIRTUAL_ENV", place.path("venv").c_str(), 1);
  setenv("CONDA_PREFIX", place.path("conda").c_str(), 1);
  setenv("PYTHONPATH", ("/one:" + place.path("two")).c_str(), 1);
  setenv("PYSPARK_PYTHON", place.path("spark/bin/python3").c_str(), 1);
  setenv("PATH", ("/absent:" + place.path("default/bin")).c_str(), 1);
  const std::vector<std::string> expected = {place.path("venv/lib/python3.12/site-packages"),
                                             place.path("conda/lib/python3.12/site-packages"),
                                             "/one",
                                             place.path("two"),
                                             place.path("spark/lib/python3.12/site-packages"),
                                             place.path("default/lib/python3.12/site-packages"),
                                             place.path("default/lib/python3/dist-packages"),
                                             place.path("system/lib/python3.12/site-packages"),
                                             place.path(".local/lib/python3.12/site-packages")};
  const std::vector<std::string> folders = python_site_packages();
  for (size_t i = 0; i < expected.size(); ++i) {
    expect(i < folders.size() && folders[i] == expected[i], "place %zu is %s, not %s", i,
           i < folders.size() ? folders[i].c_str() : "missing", expected[i].c_str());
  }
  expect(folders.size() == expected.size(), "%zu places instead of %zu", folders.size(), expected.size());
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"with_nothing_to_be_found_every_place_is_named", with_nothing_to_be_found_every_place_is_named},
       {"the_path_that_is_given_is_the_only_one", the_path_that_is_given_is_the_only_one},
       {"the_home_comes_before_python_and_the_versioned_name_first",
        the_home_comes_before_python_and_the_versioned_name_first},
       {"a_home_without_the_library_is_said_and_passed_over", a_home_without_the_library_is_said_and_passed_over},
       {"a_file_that_is_no_library_is_said_and_passed_over", a_file_that_is_no_library_is_said_and_passed_over},
       {"pythons_are_looked_at_in_the_order_of_their_activity", pythons_are_looked_at_in_the_order_of_their_activity}});
}
