#include "protocol/pe_group.h"

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "support/check.h"

namespace sparkgap::test {
namespace {

using WorldId = uint8_t[SPARKGAP_WORLD_ID_BYTES];

void write_all(int fd, const void* data, size_t bytes) {
  expect(write(fd, data, bytes) == static_cast<ssize_t>(bytes), "a pipe of the test broke");
}

void read_all(int fd, void* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t number = read(fd, static_cast<uint8_t*>(data) + done, bytes - done);
    expect(number > 0, "PE 0 ended before it gave its world id");
    done += static_cast<size_t>(number);
  }
}

struct Pipe {
  int ends[2];
  Pipe() { expect(pipe(ends) == 0, "no pipe"); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }
};

// In the child: runs the body and tells the parent how it ended.
[[noreturn]] void run_child(const GroupOptions& options, int32_t pe, Pipe& ids, Pipe& ending, const PeBody& body) {
  std::string how;
  try {
    if (pe != 0) ids.close_end(1);
    TestWorld world(
        options, pe,
        [&](const uint8_t* id) {
          for (int32_t peer = 1; peer < options.pes; ++peer) write_all(ids.ends[1], id, SPARKGAP_WORLD_ID_BYTES);
        },
        [&](uint8_t* id) { read_all(ids.ends[0], id, SPARKGAP_WORLD_ID_BYTES); });
    body(world);
  } catch (const std::exception& exception) {
    how = exception.what();
  }
  write_all(ending.ends[1], how.data(), how.size());
  _exit(0);
}

std::string read_ending(int fd, pid_t pid) {
  std::string how;
  char piece[512];
  for (ssize_t number; (number = read(fd, piece, sizeof piece)) > 0;) how.append(piece, static_cast<size_t>(number));
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return std::string("signal ") + std::to_string(WTERMSIG(status));
  return how;
}

}  // namespace

sparkgap_world_options world_options(const GroupOptions& options, int32_t pe, const std::string& label) {
  sparkgap_world_options result = {};
  result.pe = pe;
  result.pes = options.pes;
  result.epoch = options.epoch;
  result.peer_timeout_ms = options.peer_timeout_ms;
  result.check = options.check ? 1 : 0;
  result.provider = "host";
  result.label = label.c_str();
  result.host_directory = options.directory.c_str();
  return result;
}

TestWorld::TestWorld(const GroupOptions& options, int32_t pe, const std::function<void(const uint8_t*)>& publish,
                     const std::function<void(uint8_t*)>& receive)
    : pe_(pe) {
  const std::string label = "executor " + std::to_string(pe) + " on test";
  const sparkgap_world_options made = world_options(options, pe, label);
  WorldId id;
  sparkgap_status status = sparkgap_world_create(&made, &world_);
  if (status == SPARKGAP_OK && pe == 0) status = sparkgap_world_id(world_, id);
  if (status == SPARKGAP_OK && pe == 0) publish(id);
  if (status == SPARKGAP_OK && pe != 0) receive(id);
  if (status == SPARKGAP_OK) status = sparkgap_world_connect(world_, id);
  if (status == SPARKGAP_OK) return;
  const std::string text = error();
  sparkgap_world_destroy(world_);
  throw Failure("PE " + std::to_string(pe) + " did not connect: status " + std::to_string(status) + ", " + text);
}

TestWorld::~TestWorld() { sparkgap_world_destroy(world_); }

Endings run_processes(const GroupOptions& options, const PeBody& body) {
  Pipe ids;
  std::vector<Pipe> endings(static_cast<size_t>(options.pes));
  std::vector<pid_t> pids;
  for (int32_t pe = 0; pe < options.pes; ++pe) {
    const pid_t pid = fork();
    expect(pid >= 0, "cannot fork");
    if (pid == 0) run_child(options, pe, ids, endings[static_cast<size_t>(pe)], body);
    pids.push_back(pid);
    endings[static_cast<size_t>(pe)].close_end(1);
  }
  ids.close_end(0);
  ids.close_end(1);
  Endings result;
  for (size_t pe = 0; pe < pids.size(); ++pe) result.push_back(read_ending(endings[pe].ends[0], pids[pe]));
  return result;
}

Endings run_threads(const GroupOptions& options, const PeBody& body) {
  std::mutex mutex;
  std::condition_variable published;
  bool have_id = false;
  WorldId shared_id;
  Endings endings(static_cast<size_t>(options.pes));
  std::vector<std::thread> threads;
  for (int32_t pe = 0; pe < options.pes; ++pe) {
    threads.emplace_back([&, pe] {
      try {
        TestWorld world(
            options, pe,
            [&](const uint8_t* id) {
              const std::lock_guard<std::mutex> lock(mutex);
              std::memcpy(shared_id, id, sizeof shared_id);
              have_id = true;
              published.notify_all();
            },
            [&](uint8_t* id) {
              std::unique_lock<std::mutex> lock(mutex);
              published.wait(lock, [&] { return have_id; });
              std::memcpy(id, shared_id, sizeof shared_id);
            });
        body(world);
      } catch (const std::exception& exception) {
        endings[static_cast<size_t>(pe)] = exception.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return endings;
}

void expect_all_well(const Endings& endings) {
  for (size_t pe = 0; pe < endings.size(); ++pe) {
    expect(endings[pe].empty(), "PE %zu: %s", pe, endings[pe].c_str());
  }
}

void expect_ok(const TestWorld& world, sparkgap_status status) {
  expect(status == SPARKGAP_OK, "status %d: %s", status, world.error().c_str());
}

void expect_failure(const TestWorld& world, sparkgap_status status, sparkgap_status expected,
                    const std::vector<std::string>& parts) {
  const std::string text = world.error();
  expect(status == expected, "status %d instead of %d: %s", status, expected, text.c_str());
  for (const std::string& part : parts) {
    expect(text.find(part) != std::string::npos, "\"%s\" is not in: %s", part.c_str(), text.c_str());
  }
}

}  // namespace sparkgap::test
