// A folder of a test's own, gone with everything in it when the test ends.
#ifndef SPARKGAP_TEST_SUPPORT_TEMPORARY_FOLDER_H
#define SPARKGAP_TEST_SUPPORT_TEMPORARY_FOLDER_H

#include <errno.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "support/check.h"

namespace sparkgap::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/sparkgap-test-XXXXXX";
    expect(mkdtemp(name) != nullptr, "no folder like %s can be made: %s", name, std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Where the file of that name is to be, in a folder that is there.
  std::filesystem::path place(const std::string& name) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace sparkgap::test

#endif  // SPARKGAP_TEST_SUPPORT_TEMPORARY_FOLDER_H
