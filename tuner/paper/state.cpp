#include "tuner/paper/state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr double kWeight = 0.6;         // of the last interval
constexpr double kUnseenSeconds = 0.1;  // of a stage before any split was completed
// Both are static, and those of the simulated machine on which the agent is pre-trained; nothing
// measures them on others.
constexpr double kDramBandwidth = 1;
constexpr double kCpuSpeed = 1;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

double half_log(double ratio) { return ratio > 0 ? std::log(ratio) / 2 : -2; }

float scaled(double value) {
  return std::isfinite(value) ? static_cast<float>(std::clamp(value, -2.0, 2.0)) : 0.0F;
}

}  // namespace

PaperState::PaperState(PipelineDescription description)
    : description_(std::move(description)),
      stages_(description_.stages.size()),
      last_steps_(stages_.size(), 0) {}

void PaperState::observe(const Observation& seen) {
  seen_ = seen;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const StageObservation& now = seen.stages[i];
    Stage& stage = stages_[i];
    if (now.done == 0) {
      stage.unfinished += now.working_seconds / std::max(1U, now.actors);
      continue;
    }
    const double measured = now.done_seconds / static_cast<double>(now.done);
    const bool first = stage.seconds <= 0;
    stage.seconds = first ? measured : kWeight * measured + (1 - kWeight) * stage.seconds;
    stage.least = first ? stage.seconds : std::min(stage.least, stage.seconds);
    stage.unfinished = 0;
  }
  const double before = std::exchange(
      reward_, seen.splits_per_second() *
                   (1 - price(RewardMode::kPaper, description_, seen.limits, seen.allocation())));
  change_ = before > 0 ? reward_ / before - 1 : 0;
}

// Of a stage without a completed split: the mean of the others, or its own time so far.
double PaperState::seconds_of(std::size_t stage) const {
  if (stages_[stage].seconds > 0)
    return std::max(stages_[stage].seconds, stages_[stage].unfinished);
  double sum = 0;
  double known = 0;
  for (const Stage& other : stages_) {
    if (other.seconds <= 0) continue;
    sum += other.seconds;
    ++known;
  }
  return std::max(known > 0 ? sum / known : kUnseenSeconds, stages_[stage].unfinished);
}

std::vector<PaperFeatures> PaperState::rows() const {
  std::vector<double> latencies;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    latencies.push_back(seconds_of(i) / std::max(1U, seen_.stages[i].actors));
  }
  std::vector<PaperFeatures> rows(stages_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) fill(i, latencies, rows[i]);
  return rows;
}

void PaperState::fill(std::size_t i, const std::vector<double>& latencies,
                      PaperFeatures& row) const {
  const StageObservation& now = seen_.stages[i];
  const double actors = std::max(1U, now.actors);
  double slowest = 0;
  double next = 0;
  double used = 0;
  for (std::size_t j = 0; j < latencies.size(); ++j) {
    slowest = std::max(slowest, latencies[j]);
    if (j != i) next = std::max(next, latencies[j]);
    used += seen_.stages[j].cpu_seconds;
  }
  const double cpus = std::max(1e-9, seen_.limits.cpus);
  const double busy = share(used, cpus * seen_.seconds);
  const double memory = std::max(1.0, static_cast<double>(seen_.limits.memory_bytes));
  const double step = share(seen_.trainer_step_seconds,
                            static_cast<double>(seen_.trainer_steps) * seen_.splits_per_item);
  const std::array<double, kPaperFeatures> raw{
      // Pipeline latency: this stage's beside the slowest and the slowest of the others.
      half_log(share(latencies[i], slowest)), half_log(share(latencies[i], next)),
      share(now.working_seconds, now.actor_seconds),
      std::log(std::max(1.0, share(seconds_of(i), stages_[i].least))),
      share(now.done_ready_seconds, now.done_seconds),
      share(now.done_cpu_seconds, now.done_seconds),
      // Free CPUs.
      1 - busy, std::log2(1 + std::max(0.0, (1 - busy) * cpus)) / 8,
      // Free memory, and what a large step of this stage takes of it.
      1 - price(RewardMode::kPaper, description_, seen_.limits, seen_.allocation()),
      5 * static_cast<double>(description_.stages[i].bytes_per_actor) / memory,
      // The model's latency.
      half_log(share(step, slowest)), share(seen_.trainer_wait_seconds, seen_.seconds),
      // Static.
      kDramBandwidth, kCpuSpeed,
      // What stands, and the last step.
      std::log2(actors) / 8, 1 / actors, actors / cpus, kPaperSteps[last_steps_[i]] / 5.0, change_};
  for (std::size_t f = 0; f < raw.size(); ++f) row[f] = scaled(raw[f]);
}

}  // namespace forebay::tuner
