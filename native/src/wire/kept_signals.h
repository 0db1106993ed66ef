// The process's handlers of the signals that a crash or its end gives, kept while somebody else's library is at work.
//
// A JVM lives on SIGSEGV: it is how it finds a null reference, and how it stops its threads. Libraries that a host's
// libfabric brings with it (PSM, PSM2) put a handler of their own there as soon as they are loaded, which ends the
// process at the JVM's next such signal.
#ifndef SPARKGAP_WIRE_KEPT_SIGNALS_H
#define SPARKGAP_WIRE_KEPT_SIGNALS_H

#include <signal.h>

namespace sparkgap {

class KeptSignals {
 public:
  KeptSignals() {
    for (int i = 0; i < kCount; ++i) known_[i] = sigaction(kSignals[i], nullptr, &actions_[i]) == 0;
  }
  ~KeptSignals() {
    for (int i = 0; i < kCount; ++i) {
      if (known_[i]) sigaction(kSignals[i], &actions_[i], nullptr);
    }
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE,  SIGABRT, SIGTRAP, SIGPIPE,
                                     SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  static constexpr int kCount = sizeof kSignals / sizeof kSignals[0];

  struct sigaction actions_[kCount];
  bool known_[kCount];
};

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_KEPT_SIGNALS_H
