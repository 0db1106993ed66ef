// What every test executable shares: a failure is an exception with a sentence, a test is a named function.
#ifndef SPARKGAP_TEST_SUPPORT_CHECK_H
#define SPARKGAP_TEST_SUPPORT_CHECK_H

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sparkgap::test {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

__attribute__((format(printf, 2, 3))) inline void expect(bool holds, const char* format, ...) {
  if (holds) return;
  char text[2000];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw Failure(text);
}

// Of no bytes, an address may be null, which memcmp must not be given.
inline bool same_bytes(const void* a, const void* b, size_t bytes) {
  return bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

struct Test {
  const char* name;
  std::function<void()> body;
};

// Runs all tests, or those whose names are among the arguments; returns main's exit code.
inline int run_tests(int argc, char** argv, const std::vector<Test>& tests) {
  int ran = 0;
  int failed = 0;
  for (const Test& test : tests) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= std::strcmp(argv[i], test.name) == 0;
    if (!wanted) continue;
    ++ran;
    const auto start = std::chrono::steady_clock::now();
    std::string failure;
    try {
      test.body();
    } catch (const std::exception& e) {
      failure = e.what();
      ++failed;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%-4s %6.2f s  %s\n", failure.empty() ? "ok" : "FAIL", took.count(), test.name);
    if (!failure.empty()) std::printf("     %s\n", failure.c_str());
    std::fflush(stdout);
  }
  if (ran == 0) std::printf("No test of that name. There are:\n");
  for (const Test& test : tests) {
    if (ran == 0) std::printf("  %s\n", test.name);
  }
  return ran == 0 || failed > 0 ? 1 : 0;
}

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_CHECK_H
