// The memory that a world is made of: how much of it there is, what it is called, who can take it away.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "protocol/expect_failure.h"
#include "protocol/handle.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

void nobody_holds_the_shared_memory_open_once_all_are_connected() {
  run_pes(Pes{3}, [](const Pe& pe) {
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string target = std::filesystem::read_symlink(entry, gone).string();
      expect(target.find("/dev/shm") == std::string::npos && target.find("memfd:sparkgap") == std::string::npos,
             "PE %d has %s open", pe.pe(), target.c_str());
    }
  });
}

void a_directory_that_is_none_is_refused() {
  const Handle missing(0, 2, 5, "/nonexistent/directory");
  expect_failure(missing, missing.created(), SPARKGAP_UNAVAILABLE,
                 {"/nonexistent/directory", "No such file", "spark.sparkgap.host.directory"});
  uint8_t id[SPARKGAP_WORLD_ID_BYTES];
  expect(sparkgap_world_id(missing, id) == SPARKGAP_INVALID_ARGUMENT, "there is an id all the same");
}

// Runs body in a process that sees a tmpfs of `size` as /dev/shm. False if this user may not mount.
bool run_with_small_shm(const char* size, const std::function<void()>& body) {
  struct Result {
    std::atomic<int> mounted;
    char failure[2000];
  };
  const Shared<Result> result;
  const pid_t child = fork();
  if (child == 0) {
    const std::string options = std::string("size=") + size;
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("small", "/dev/shm", "tmpfs", 0, options.c_str()) == 0) {
      result->mounted.store(1);
      try {
        body();
      } catch (const std::exception& caught) {
        std::strncpy(result->failure, caught.what(), sizeof result->failure - 1);
      }
    }
    std::_Exit(0);
  }
  waitpid(child, nullptr, 0);
  expect(result->failure[0] == '\0', "%s", result->failure);
  if (result->mounted.load() == 0) std::printf("     not run: this user may not mount a tmpfs\n");
  return result->mounted.load() != 0;
}

void a_shm_too_small_for_a_world_is_told() {
  run_with_small_shm("1m", [] {
    const Handle pe_0(0, 2, 5, "/dev/shm");
    expect_failure(pe_0, pe_0.created(), SPARKGAP_OUT_OF_MEMORY,
                   {"a world of 2 PEs needs ", "bytes", "in /dev/shm", "1048576 are free", "--shm-size",
                    "spark.sparkgap.host.directory"});
  });
}

void a_shm_too_small_for_a_buffer_is_told_and_the_world_lives_on() {
  run_with_small_shm("40m", [] {
    Pes pes{4};
    pes.host_directory = "/dev/shm";
    run_pes(pes, [](const Pe& pe) {
      for (int round = 0; round < 3; ++round) {
        sparkgap_buffer* buffer = nullptr;
        const sparkgap_status status = sparkgap_allocate(pe.world(), 20 << 20, &buffer);
        expect_failure(pe.world(), status, SPARKGAP_OUT_OF_MEMORY,
                       {"20971520 bytes on each of 4 PEs needs 83886080 bytes", "/dev/shm", "are free", "--shm-size"});
        // What the failed attempt had reserved is free again.
        pe.ok(sparkgap_allocate(pe.world(), 4 << 20, &buffer), "allocate");
        std::memset(sparkgap_buffer_address(buffer), 1, 4 << 20);
        pe.ok(sparkgap_free(pe.world(), buffer), "free");
      }
    });
  });
}

// What a PE shares with the others, in a file system or in none, as the kernel lists it among what is mapped.
std::vector<std::string> shared_mappings() {
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const bool is_shared =
        line.find("/memfd:sparkgap") != std::string::npos || line.find(" /dev/shm/") != std::string::npos;
    if (is_shared) found.push_back("/proc/self/map_files/" + line.substr(0, line.find(' ')));
  }
  return found;
}

// Whatever a broken or hostile process of the same user does: memory that others have mapped stays.
void a_peer_cannot_take_shared_memory_away() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(1 << 20);
    auto* memory = static_cast<uint8_t*>(sparkgap_buffer_address(buffer));
    memory[0] = 7;
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    if (pe.pe() == 1) {
      const std::vector<std::string> mappings = shared_mappings();
      expect(mappings.size() >= 2, "%zu mappings are shared: not the world's and a buffer's", mappings.size());
      for (const std::string& mapping : mappings) {
        const int fd = open(mapping.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) {
          std::printf("     not tried: this user may not open %s\n", mapping.c_str());
          break;
        }
        const bool cut = ftruncate(fd, 0) == 0;
        close(fd);
        expect(!cut, "what others have mapped has been cut");
      }
    }
    float value = 1;
    pe.ok(sparkgap_all_reduce(pe.world(), &value, &value, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM), "allReduce");
    expect(memory[0] == 7, "%d is there", memory[0]);
  });
}

void more_memory_than_there_is_is_told_and_the_world_lives_on() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_buffer* buffer = nullptr;
    const sparkgap_status status = sparkgap_allocate(pe.world(), uint64_t{4} << 40, &buffer);
    expect_failure(pe.world(), status, SPARKGAP_OUT_OF_MEMORY,
                   {"4398046511104 bytes on each of 2 PEs needs 8796093022208 bytes of memory", "are free on the host",
                    "spark.executor.memoryOverhead"});
    pe.ok(sparkgap_allocate(pe.world(), 4 << 20, &buffer), "allocate");
    std::memset(sparkgap_buffer_address(buffer), 1, 4 << 20);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
  });
}

int open_descriptors() {
  int number = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++number;
  closedir(directory);
  return number;
}

// What this process has mapped of /dev/shm that has a name there: other processes may have files in it, too.
std::string named_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" /dev/shm/") != std::string::npos && line.find("(deleted)") == std::string::npos) return line;
  }
  return "";
}

void nothing_is_left_behind() {
  const int descriptors = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    run_pes(Pes{3, Placement::kThreads}, [&](const Pe& pe) {
      pe.allocate(100000);
      expect(named_shared_memory().empty(), "there is a name in /dev/shm: %s", named_shared_memory().c_str());
    });
  }
  expect(open_descriptors() == descriptors, "%d descriptors have become %d", descriptors, open_descriptors());
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"nobody_holds_the_shared_memory_open_once_all_are_connected",
                     nobody_holds_the_shared_memory_open_once_all_are_connected},
                    {"a_directory_that_is_none_is_refused", a_directory_that_is_none_is_refused},
                    {"a_shm_too_small_for_a_world_is_told", a_shm_too_small_for_a_world_is_told},
                    {"a_shm_too_small_for_a_buffer_is_told_and_the_world_lives_on",
                     a_shm_too_small_for_a_buffer_is_told_and_the_world_lives_on},
                    {"a_peer_cannot_take_shared_memory_away", a_peer_cannot_take_shared_memory_away},
                    {"more_memory_than_there_is_is_told_and_the_world_lives_on",
                     more_memory_than_there_is_is_told_and_the_world_lives_on},
                    {"nothing_is_left_behind", nothing_is_left_behind}});
}
