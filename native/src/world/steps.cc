// How a world records steps and makes their calls.
#include <algorithm>
#include <utility>

#include "description/types.h"
#include "protocol/abort.h"
#include "world/rows.h"
#include "world/world.h"

namespace sparkgap {

void describe_step_call(Text& text, const Step& step, const StepCall& call) {
  text.add("call %d of %d, ", static_cast<int32_t>(&call - step.calls.data()) + 1, step.count());
  if (call.kind != StepCallKind::kOneSided) {
    describe_signature(text, call.signature);
  } else {
    text.add("%s", name_of(call.one_sided));
    if (call.one_sided.bytes > 0) text.add(" of %llu bytes", static_cast<unsigned long long>(call.one_sided.bytes));
    const bool from = call.one_sided.operation == SPARKGAP_GET;
    if (call.one_sided.pe >= 0) text.add(" %s PE %d", from ? "from" : "to", call.one_sided.pe);
  }
  text.add(", of step %d", step.number);
}

// ---- Recording

void World::begin_step() {
  check_not_recording("a step");
  // All PEs record the same, though perhaps not between the same calls.
  await_beside();
  steps_.reserve(steps_.size() + 1);
  auto step = std::make_unique<Step>();
  step->world = this;
  step->number = step_count_ + 1;
  if (Recorder* recorder = engine_->recorder()) recorder->begin_recording();
  ++step_count_;
  recording_ = std::move(step);
}

Step* World::end_step() {
  check_recorder();
  std::unique_ptr<Step> step = std::move(recording_);
  Recorder* recorder = engine_->recorder();
  try {
    check_usable();
    if (recorder != nullptr) step->recorded = recorder->end_recording();
  } catch (const Failure&) {
    if (recorder != nullptr) recorder->drop_recording();
    throw;
  }
  for (Buffer* buffer : step->buffers) ++buffer->steps;
  steps_.push_back(std::move(step));
  return steps_.back().get();
}

void World::drop_step() {
  check_recorder();
  recording_.reset();
  if (Recorder* recorder = engine_->recorder()) recorder->drop_recording();
}

void World::record(const CollectiveCall& call) {
  StepCall& kept = record_next();
  kept.kind = StepCallKind::kCollective;
  kept.is_empty = is_empty(call);
  kept.signature = signature_of(call);
  kept.digest = mix(kept.signature);
  kept.bytes = bytes_of_in(call, options_.pes);
  kept.collective = call;
  const Collective& what = description_of(call);
  if (what.has_tables()) {
    const size_t pes = static_cast<size_t>(options_.pes);
    kept.tables = std::make_unique<uint64_t[]>(4 * pes);
    uint64_t* table = kept.tables.get();
    for (const uint64_t** from : {&kept.collective.send_counts, &kept.collective.send_offsets,
                                  &kept.collective.receive_counts, &kept.collective.receive_offsets}) {
      *from = std::copy_n(*from, pes, table) - pes;
      table += pes;
    }
  }
  if (engine_->recorder() != nullptr && !kept.is_empty) {
    hand_on([&] { engine_->collective(kept.collective); });
  }
  if (is_used(what.in, options_.pe, call.root)) keep(call.in);
  if (is_used(what.out, options_.pe, call.root)) keep(call.out);
}

void World::record(OneSidedCall call) {
  if (call.found != nullptr) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "a step has nowhere to put the word that %s finds: pass NULL for it",
         name_of(call));
  }
  StepCall& kept = record_next();
  kept.one_sided = call;
  if (engine_->recorder() != nullptr) hand_on([&] { carry_out(*engine_, call); });
  for (const auto& buffer : buffers_) {
    const SymmetricMemory* memory = buffer->memory.get();
    if (memory != nullptr && (memory == call.data || memory == call.word)) keep(buffer.get());
  }
  keep(call.src);
  keep(call.dst);
}

void World::record(const RowsCall& call) {
  StepCall& kept = record_next();
  kept.kind = StepCallKind::kRows;
  kept.signature = signature_of(call);
  kept.digest = mix(kept.signature);
  kept.rows = call;
  if (engine_->recorder() != nullptr) hand_on([&] { engine_->rows(call); });
  for (const void* address :
       {static_cast<const void*>(call.memory->part(options_.pe)), call.in, static_cast<const void*>(call.out),
        static_cast<const void*>(call.indices), static_cast<const void*>(call.weights)}) {
    keep(address);
  }
}

// To the engine, which records it, too, or refuses it.
template <class Call>
void World::hand_on(const Call& call) {
  try {
    call();
  } catch (const Failure&) {
    recording_->calls.pop_back();
    throw;
  }
}

StepCall& World::record_next() {
  check_recorder();
  std::vector<StepCall>& calls = recording_->calls;
  calls.emplace_back();
  if (Recorder* recorder = engine_->recorder()) recorder->record_next(recording_->number, recording_->count());
  return calls.back();
}

// The step that is being recorded holds the buffer in which the address lies, if it lies in one.
void World::keep(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const auto& buffer : buffers_) {
    for (int32_t pe = 0; pe < options_.pes && buffer->memory != nullptr; ++pe) {
      const auto part = reinterpret_cast<uintptr_t>(buffer->memory->part(pe));
      if (part != 0 && at - part < buffer->bytes) return keep(buffer.get());
    }
  }
}

void World::keep(Buffer* buffer) {
  std::vector<Buffer*>& held = recording_->buffers;
  if (std::find(held.begin(), held.end(), buffer) == held.end()) held.push_back(buffer);
}

// Whoever records is one thread: calls of another would come in between in no order.
void World::check_recorder() const {
  if (recording_ == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "no step is being recorded");
  if (pthread_equal(recording_->thread, pthread_self())) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "step %d is being recorded by another thread, which alone makes its calls",
       recording_->number);
}

void World::refuse_recording(const char* what) const {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "%s cannot be part of a step, and step %d is being recorded: do it before the recording begins or after it ends",
       what, recording_->number);
}

void World::refuse_held(const Buffer& buffer) const {
  const auto holds = [&buffer](const auto& step) {
    return std::find(step->buffers.begin(), step->buffers.end(), &buffer) != step->buffers.end();
  };
  const auto step = std::find_if(steps_.begin(), steps_.end(), holds);
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "buffer #%u is used by step %d%s: close the step first", buffer.number,
       (*step)->number, buffer.steps > 1 ? " and others" : "");
}

// ---- Running

void World::run_step(Step& step) {
  check_not_recording("the run of another step");
  const StepCall* at = step.calls.data();
  const StepCall* const end = at + step.calls.size();
  try {
    if (step.recorded == nullptr) {
      for (; at != end; ++at) make(*at);
      return;
    }
    // As the calls would: each is shown, and compared where calls are, before anything is enqueued.
    for (; at != end; ++at) show(step, *at);
  } catch (const Failure& failure) {
    for (const StepCall* shown = step.calls.data(); step.recorded != nullptr && shown != at; ++shown) {
      if (shown->kind == StepCallKind::kRows) forget_last_rows(shown->rows);
    }
    fail_step(step, *at, failure);
  }
  step.recorded->launch();
}

void World::make(const StepCall& call) {
  if (is_aborted(control_)) check_usable();
  if (call.kind == StepCallKind::kOneSided) return make(call.one_sided);
  if (call.kind == StepCallKind::kRows) return make(call.rows);
  Counting counting = count(call.collective.collective, call.collective.algorithm, call.bytes);
  const Span span(*this, call.signature, call.digest);
  if (!call.is_empty) counting.by(engine_->collective(call.collective));
}

void World::show(const Step& step, const StepCall& call) {
  if (call.kind == StepCallKind::kOneSided) {
    const Counting counting = count(call.one_sided.operation, counted_bytes(call.one_sided));
    return;
  }
  const bool of_rows = call.kind == StepCallKind::kRows;
  if (of_rows) check_last_rows(call.rows);
  const Counting counting = of_rows ? count(call.rows.operation, counted_bytes(call.rows))
                                    : count(call.collective.collective, call.collective.algorithm, call.bytes);
  const Span span(*this, call.signature, call.digest);
  if (!call.is_empty) step.recorded->compare();
  if (of_rows) keep_last_rows(call.rows);
}

void World::fail_step(const Step& step, const StepCall& call, const Failure& failure) const {
  Failure named = failure;
  Text text(named.message, sizeof named.message);
  describe_step_call(text, step, call);
  text.add(": %s", failure.message);
  throw named;
}

void World::free_step(Step* step) {
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [step](const auto& owned) { return owned.get() == step; });
  if (found == steps_.end()) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the step is not one of this world, or has been destroyed");
  }
  for (Buffer* buffer : step->buffers) --buffer->steps;
  steps_.erase(found);
}

}  // namespace sparkgap
