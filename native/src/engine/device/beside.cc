#include "engine/device/beside.h"

#include <time.h>

#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/version.h"
#include "protocol/abort.h"

namespace sparkgap {
namespace {

constexpr long kPauseNs = 500000;
constexpr const char* kHasLeft = "it has left the world";

// Whoever else maps the segment may write there, so it may lack its end.
std::string told_by(const BesideRecord& record) {
  return std::string(record.told, strnlen(record.told, sizeof record.told));
}

}  // namespace

Beside::Outcome outcome_of(const Control& control, Text* why) {
  bool all_ready = true;
  int32_t first = -1;  // that has said what it has
  for (int32_t pe = 0; pe < control.pes(); ++pe) {
    const BesideRecord& record = control.record(pe).beside;
    const uint32_t state = load_acquire(&record.state);
    all_ready &= state == kBesideReady;
    if (state == kBesideUnknown) continue;
    if (state == kBesideNone) {
      if (why != nullptr) {
        why->add("PE %d (%s): %s", control.world_pe(pe), control.label(pe).c_str(), told_by(record).c_str());
      }
      return Beside::Outcome::kNone;
    }
    if (first < 0) first = pe;
    const BesideCard& theirs = control.record(first).beside.card;
    if (record.card.version != theirs.version) {
      if (why != nullptr) {
        why->add("PE %d (%s) has NCCL %s, PE %d (%s) %s", control.world_pe(first), control.label(first).c_str(),
                 version_text(theirs.version).c_str(), control.world_pe(pe), control.label(pe).c_str(),
                 version_text(record.card.version).c_str());
      }
      return Beside::Outcome::kNone;
    }
    for (int32_t other = first; other < pe; ++other) {
      const BesideRecord& before = control.record(other).beside;
      if (load_acquire(&before.state) == kBesideUnknown || before.card.place != record.card.place) continue;
      if (why != nullptr) {
        why->add("PEs %d and %d share a GPU, which NCCL does not allow", control.world_pe(other), control.world_pe(pe));
      }
      return Beside::Outcome::kNone;
    }
  }
  return all_ready ? Beside::Outcome::kThere : Beside::Outcome::kOpen;
}

Beside::Beside(const Control& control, int32_t pe, BesideLibrary& library, int64_t timeout_ms)
    : control_(control), pe_(pe), library_(library), timeout_us_(timeout_ms * 1000), thread_([this] { run(); }) {}

void Beside::end() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  {
    const std::lock_guard<std::mutex> lock(ready_mutex_);
    if (!is_done(pe_)) library_.drop_beside();
  }
  thread_.join();
}

Beside::Outcome Beside::outcome() const { return outcome_of(control_, nullptr); }

bool Beside::is_done(int32_t pe) const { return load_acquire(&record(pe).state) >= kBesideReady; }

void Beside::run() {
  open();
  wait_until_all(kBesideReady);
  if (outcome() == Outcome::kNone) library_.drop_beside();
}

void Beside::open() {
  BesideRecord& own = record(pe_);
  Failure failure;
  Text told(own.told, sizeof own.told);
  if (library_.load_beside(&own.card, told, &failure) != SPARKGAP_OK) return say_none(failure.message);
  say(kBesideLoaded);
  if (!wait_until_all(kBesideLoaded) || stopping_.load()) {
    return say_none(stopping_.load() ? kHasLeft : "not all PEs have begun to open it");
  }
  if (outcome() != Outcome::kOpen) return;
  if (library_.start_beside(control_.record(0).beside.card.id, &failure) != SPARKGAP_OK) {
    return say_none(failure.message);
  }
  const std::lock_guard<std::mutex> lock(ready_mutex_);
  if (stopping_.load()) return say_none(kHasLeft);
  say(kBesideReady);
}

// False if this PE has to leave before, the world has been aborted, or it lasts too long.
bool Beside::wait_until_all(uint32_t state) const {
  const int64_t start = now_us();
  for (int32_t pe = 0; pe < control_.pes(); ++pe) {
    while (load_acquire(&record(pe).state) < state) {
      if (outcome() == Outcome::kNone) return true;
      if (stopping_.load() || is_aborted(control_) || now_us() - start > timeout_us_) return false;
      const timespec pause = {0, kPauseNs};
      nanosleep(&pause, nullptr);
    }
  }
  return true;
}

void Beside::say(uint32_t state) const {
  store_release(&record(pe_).state, state);
  wake_sleepers(control_.header());
}

void Beside::say_none(const char* why) const {
  BesideRecord& own = record(pe_);
  Text(own.told, sizeof own.told).add("%s", why);
  say(kBesideNone);
}

void Beside::describe(Text& text) const {
  char reason[512] = "";
  Text why(reason, sizeof reason);
  const Outcome known = outcome_of(control_, &why);
  if (known == Outcome::kOpen) {
    text.add(", NCCL beside it is being opened");
  } else if (known == Outcome::kNone) {
    text.add(", no NCCL beside it: %s", reason);
  } else {
    const BesideRecord& own = record(pe_);
    text.add(", NCCL %s (%s) beside it", version_text(own.card.version).c_str(), told_by(own).c_str());
  }
}

}  // namespace sparkgap
