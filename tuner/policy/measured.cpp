#include "tuner/policy/measured.h"

#include <algorithm>
#include <cmath>

#include "tuner/allocation.h"

namespace forebay::tuner {
namespace {

// No time of a split or of an interval is longer than this; a longer time is not a measurement.
constexpr double kLongest = 1e9;
constexpr double kMostCpus = 1e6;
// A mean this many standard errors away is not chance.
constexpr double kSurprise = 4;

double sane(double value) { return value > 0 && value < kLongest ? value : 0; }

// Whether two samples of one stage come from different work.
bool differs(const Work& before, const Work& now) {
  if (!before.seen() || !now.seen()) return false;
  const double spread = std::max(before.variation(), now.variation()) * before.service();
  const double error = spread * std::sqrt(1 / before.splits + 1 / now.splits);
  // A difference below a tenth does not justify dropping the estimate, however certain it is.
  return std::abs(now.service() - before.service()) >
         std::max(kSurprise * error, 0.1 * before.service());
}

}  // namespace

double Work::variation() const {
  const double mean = service();
  if (mean <= 0) return 0;
  return std::sqrt(std::max(0.0, squares / splits - mean * mean)) / mean;
}

void Work::add(const Work& more) {
  splits += more.splits;
  wall_seconds += more.wall_seconds;
  ready_seconds += more.ready_seconds;
  cpu_seconds += more.cpu_seconds;
  squares += more.squares;
}

void Work::forget(double kept) {
  splits *= kept;
  wall_seconds *= kept;
  ready_seconds *= kept;
  cpu_seconds *= kept;
  squares *= kept;
}

Work work_of(const Observation& seen, std::size_t stage) {
  if (stage >= seen.stages.size()) return {};
  const StageObservation& saw = seen.stages[stage];
  Work work;
  work.wall_seconds = sane(saw.done_seconds);
  if (saw.done == 0 || work.wall_seconds == 0) return {};
  work.splits = static_cast<double>(saw.done);
  work.ready_seconds = std::min(sane(saw.done_ready_seconds), 0.999 * work.wall_seconds);
  work.cpu_seconds = std::min(sane(saw.done_cpu_seconds), work.wall_seconds - work.ready_seconds);
  work.squares = sane(saw.done_seconds_squared);
  return work;
}

double trainer_rate_of(const Observation& seen) {
  const double busy = sane(seen.trainer_step_seconds);
  const double splits = static_cast<double>(seen.trainer_steps) * sane(seen.splits_per_item);
  return busy > 0 ? sane(splits / busy) : 0;
}

double cpus_of(const Limits& limits) {
  const double cpus = limits.cpus;
  return cpus > 1 ? std::min(cpus, kMostCpus) : 1;
}

std::uint32_t whole_cpus_of(const Limits& limits) {
  return static_cast<std::uint32_t>(cpus_of(limits));
}

Allocation current_allocation_of(const PipelineDescription& description, const Observation& seen) {
  return shaped(description, seen.allocation());
}

Measured::Measured(std::size_t stages, double kept) : stages_(stages), kept_(kept) {}

void Measured::add(const Observation& seen) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    const Work now = work_of(seen, i);
    if (now.seen()) {
      stage.work.forget(differs(stage.work, now) ? 0 : kept_);
      stage.work.add(now);
      stage.unfinished = 0;
    } else if (i < seen.stages.size()) {
      const double actors = std::max(1U, seen.stages[i].actors);
      stage.unfinished += sane(seen.stages[i].working_seconds / actors);
    }
  }
  const double rate = trainer_rate_of(seen);
  if (rate > 0 || seen.trainer_steps > 0) trainer_rate_ = rate;
}

bool Measured::all_seen() const {
  return std::all_of(stages_.begin(), stages_.end(), [](const auto& s) { return s.work.seen(); });
}

bool Measured::any_seen() const {
  return std::any_of(stages_.begin(), stages_.end(), [](const auto& s) { return s.work.seen(); });
}

double Measured::service(std::size_t i) const {
  const Stage& stage = stages_[i];
  if (stage.work.seen()) return std::max(stage.work.service(), stage.unfinished);
  double sum = 0;
  double seen = 0;
  for (const Stage& other : stages_) {
    if (!other.work.seen()) continue;
    sum += other.work.service();
    ++seen;
  }
  return seen > 0 ? std::max(sum / seen, stage.unfinished) : 0;
}

double Measured::cpu(std::size_t i) const {
  const Work& work = stages_[i].work;
  if (!work.seen()) return service(i);
  return service(i) * work.cpu() / work.service();
}

std::vector<StageCost> Measured::costs() const {
  std::vector<StageCost> costs(stages_.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    costs[i].seconds = service(i);
    costs[i].cpu = costs[i].seconds > 0 ? cpu(i) / costs[i].seconds : 1;
  }
  return costs;
}

}  // namespace forebay::tuner
