#include "tuner/emulated/pipeline_accounting.h"

#include <algorithm>

namespace forebay::tuner {

PipelineAccounting::PipelineAccounting(const PipelineModel& model)
    : model_(model),
      memory_(model.base_bytes, model.memory_bytes),
      exempt_(model.stages.size(), 0),
      census_{.actors = std::vector<std::uint32_t>(model.stages.size(), 0),
              .leaving = std::vector<std::uint32_t>(model.stages.size(), 0),
              .queued = std::vector<std::uint32_t>(model.stages.size(), 0),
              .prefetch = model.prefetch_splits} {
  interval_.queue_fill.resize(model.stages.size());
}

void PipelineAccounting::note(double now, const Census& census, std::uint64_t memory_limit) {
  for (std::size_t i = 0; i < model_.stages.size(); ++i) {
    interval_.queue_fill[i] += fill_of(i) * (now - noted_);
  }
  interval_.seconds += now - noted_;
  noted_ = now;
  const bool was_full = census_.queued.back() >= census_.prefetch;
  if (!was_full && census.queued.back() >= census.prefetch) ++interval_.prefetch_full;
  note_memory(now, census, memory_limit);
  census_ = census;
}

double PipelineAccounting::fill_of(std::size_t stage) const {
  const bool last = stage + 1 == model_.stages.size();
  const double room = last ? census_.prefetch : model_.queue_splits;
  return std::min(1.0, census_.queued[stage] / room);
}

std::uint64_t PipelineAccounting::bytes_in(const Census& census) const {
  std::uint64_t bytes = model_.base_bytes;
  for (std::size_t i = 0; i < model_.stages.size(); ++i) {
    bytes += census.actors[i] * model_.stages[i].bytes_per_actor;
    bytes += census.queued[i] * model_.stages[i].bytes_out;
  }
  return bytes;
}

void PipelineAccounting::note_memory(double now, const Census& census, std::uint64_t limit) {
  for (std::size_t i = 0; i < exempt_.size(); ++i) {
    if (exempt_[i] <= census.leaving[i]) continue;
    const std::uint64_t gone = exempt_[i] - census.leaving[i];
    exempt_[i] = census.leaving[i];
    memory_.give(gone * model_.stages[i].bytes_per_actor);
    memory_.give_exempt(gone * model_.stages[i].bytes_per_actor);
  }
  const std::uint64_t before = memory_.used();
  const std::uint64_t after = bytes_in(census);
  if (after >= before) {
    memory_.take(after - before);
  } else {
    memory_.give(before - after);
  }
  if (memory_.enforce(now, leaving_bytes(census))) exempt_ = census.leaving;
  if (limit != memory_.limit()) memory_.set_limit(now, limit);
}

std::uint64_t PipelineAccounting::leaving_bytes(const Census& census) const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < census.leaving.size(); ++i) {
    bytes += census.leaving[i] * model_.stages[i].bytes_per_actor;
  }
  return bytes;
}

PipelineAccounting::Interval PipelineAccounting::take() {
  Interval taken = interval_;
  for (double& fill : taken.queue_fill) fill /= std::max(taken.seconds, 1e-9);
  taken.memory_peak = memory_.peak();
  memory_.restart_peak();
  interval_ = {};
  interval_.queue_fill.resize(model_.stages.size());
  return taken;
}

}  // namespace forebay::tuner
