// What is said where the kernel gives no file or no mapping.
#include "provider/host/shortage.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

void other_errors_are_left_to_others() {
  refuse_without_inodes(EACCES, "/dev/shm");
  refuse_without_mappings(EACCES, 4096, "/dev/shm");
  refuse_without_mappings(ENOMEM, 4096, "/dev/shm");  // this process has few mappings
}

void a_tmpfs_without_inodes_is_out_of_memory() {
  try {
    refuse_without_inodes(ENOSPC, "/dev/shm");
  } catch (const sparkgap::Failure& told) {
    expect(told.status == SPARKGAP_OUT_OF_MEMORY, "status %d", told.status);
    expect(std::strstr(told.message, "/dev/shm") != nullptr && std::strstr(told.message, "nr_inodes") != nullptr, "%s",
           told.message);
    return;
  }
  expect(false, "nothing was thrown");
}

// In a child, for it has no mapping left for anything else.
void a_process_without_mappings_is_told_the_limit() {
  const pid_t child = fork();
  if (child == 0) {
    // Neighbours of another protection do not become one mapping.
    for (int i = 0;; ++i) {
      if (mmap(nullptr, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
        break;
      }
    }
    const int error = errno;
    try {
      refuse_without_mappings(error, 4096, "/dev/shm");
    } catch (const sparkgap::Failure& told) {
      const bool right =
          told.status == SPARKGAP_OUT_OF_MEMORY && std::strstr(told.message, "vm.max_map_count") != nullptr;
      if (!right) std::fprintf(stderr, "%s\n", told.message);
      std::_Exit(right ? 0 : 2);
    }
    std::_Exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  expect(status == 0, "the child ended with %d", status);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"other_errors_are_left_to_others", other_errors_are_left_to_others},
                    {"a_tmpfs_without_inodes_is_out_of_memory", a_tmpfs_without_inodes_is_out_of_memory},
                    {"a_process_without_mappings_is_told_the_limit", a_process_without_mappings_is_told_the_limit}});
}
