#include "tuner/agent/trial.h"

#include <algorithm>
#include <cmath>

#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr double kBusy = 0.9;         // share of work from which a stage holds the others up
constexpr double kSteady = 0.12;      // relative change of actors that is no change
constexpr std::uint32_t kFew = 5;     // actors, of which one matters
constexpr double kServices = 3;       // service times that a belief or a trial lasts
constexpr double kMemory = 100;       // seconds, of what other numbers of actors showed
constexpr double kSettling = 8;       // seconds at the usual pace, at least, that the belief lasts
constexpr double kEnough = 12;        // splits that have to be seen before, and in a trial
constexpr double kEndless = 20;       // service times after which a trial ends in any case
constexpr double kWorthwhile = 1.04;  // times the rate, that the trial has to promise
constexpr double kMostLost = 0.03;    // of the rate, by the belief on trial
constexpr double kChance = 1.5;       // standard deviations
constexpr double kMostGrowth = 1.5;   // times the actors
constexpr double kFlat = 0.87;  // of the actors, that are as good by the belief: trying them shows
constexpr double kSlightly = 0.97;   // of the actors, with which the rate shows its direction
constexpr double kContended = 1.25;  // times the time alone, from which it is believed to contend
constexpr double kCrowded = 3;     // times the time alone, from which there may be too many actors
constexpr double kSupplied = 1.1;  // times the hoped rate, that the other stages can make
constexpr double kRest = 10;  // seconds at that pace; doubled for each trial that changed nothing
constexpr std::uint32_t kMostDoublings = 5;
constexpr double kPlanPrecision = 1e-3;

bool holds_up(const StageObservation& stage) {
  const double waited = stage.input_wait_seconds + stage.output_wait_seconds;
  return stage.working_seconds > kBusy * (stage.working_seconds + waited);
}

bool calm(std::uint32_t before, std::uint32_t now) {
  const double few = before < kFew ? 0 : 1;
  return std::abs(static_cast<double>(now) - before) <= std::max(few, kSteady * before);
}

// Whether the plan is to go on as before.
bool content(const Observation& seen, const Planned& planned) {
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    if (!calm(seen.stages[i].actors, planned.allocation.actors[i])) return false;
  }
  return true;
}

}  // namespace

Trial::Trial(PipelineDescription description)
    : description_(std::move(description)),
      stood_(description_.stages.size()),
      done_(description_.stages.size()),
      seconds_(description_.stages.size()),
      least_(description_.stages.size()),
      most_(description_.stages.size()),
      failed_(description_.stages.size()) {}

Planned Trial::next(const Observation& seen, PipelineEstimate& known, Planned planned) {
  settle(seen, known);
  outcome_.reset();
  if (stage_ && (over(seen, known) || passed(known, planned))) {
    const bool refuted = known.conclude(*stage_);
    outcome_ = Outcome{*stage_, before_, during_, refuted};
    failed_[*stage_] = refuted ? 0 : failed_[*stage_] + 1;
    rest_ = known.pace() * kRest *
            static_cast<double>(1U << std::min(failed_[*stage_], kMostDoublings));
    stage_.reset();
  }
  if (!stage_ && rest_ <= 0 && content(seen, planned)) {
    if (const auto found = candidate(seen, known)) {
      stage_ = found->stage;
      before_ = seen.stages[found->stage].actors;
      during_ = found->actors;
      rate_before_ = known.stages()[found->stage].mean().rate(before_);
      lasted_ = shown_ = shown_seconds_ = 0;
      known.question(found->stage, before_);
    }
  }
  if (!stage_) return planned;
  planned.allocation = supplied(seen, known);
  planned.allocation.prefetch =
      prefetch_beside(description_, planned.allocation, planned.allocation.prefetch,
                      {.bytes = seen.limits.memory_bytes});
  return planned;
}

// What stands, with the stage on trial, and with what the others need if the belief is wrong: a
// stage that waits for its neighbours shows nothing.
Allocation Trial::supplied(const Observation& seen, const PipelineEstimate& known) const {
  Allocation tried = seen.allocation();
  tried.actors[*stage_] = during_;
  const std::vector<StageCost> costs = known.mean();
  const double hoped = kSupplied * rate_before_ * during_ / std::max(1U, before_);
  Allocation wide = tried;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (i == *stage_ || during_ < before_) continue;
    const std::uint32_t enough =
        ActorsForRate(costs[i], description_.stages[i].max_actors).fewest(hoped);
    wide.actors[i] = std::max(tried.actors[i], enough);
  }
  return fits(description_, wide, seen.limits) ? wide : tried;
}

void Trial::settle(const Observation& seen, const PipelineEstimate& known) {
  rest_ -= seen.seconds;
  lasted_ += seen.seconds;
  for (std::size_t i = 0; i < stood_.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    const bool changed = known.stages()[i].changed();
    if (changed) failed_[i] = 0;
    if (changed || stage.leaving > 0 || !calm(stood_[i], stage.actors)) {
      stood_[i] = stage.actors;
      done_[i] = seconds_[i] = 0;
    }
    done_[i] += static_cast<double>(stage.done);
    seconds_[i] += seen.seconds;
    if (stage.done == 0) continue;
    const double measured = known.stages()[i].measured_actors();
    const double kept = changed ? 0 : std::exp(-seen.seconds / kMemory);
    least_[i] = std::min(measured, measured + kept * (least_[i] - measured));
    most_[i] = std::max(measured, measured + kept * (most_[i] - measured));
  }
}

bool Trial::over(const Observation& seen, const PipelineEstimate& known) {
  const StageEstimate& tried = known.stages()[*stage_];
  const StageObservation& stage = seen.stages[*stage_];
  const double nearly = (before_ + 3.0 * during_) / 4;
  const double measured = tried.measured_actors();
  if (stage.done > 0 && (during_ > before_ ? measured > nearly : measured < nearly)) {
    shown_ += static_cast<double>(stage.done);
    shown_seconds_ += stage.done_seconds - stage.done_ready_seconds;
  }
  const StageCost cost = tried.mean();
  const double service = cost.seconds_with(during_);
  return worse(tried.noise()) || known.changed() || stage.actors != during_ ||
         lasted_ > kEndless * service + known.pace() * kRest ||
         (shown_ >= std::max<double>(kEnough, during_) && lasted_ > kServices * service);
}

// Whether the plan goes beyond the trial by now, and not for doubt alone.
bool Trial::passed(const PipelineEstimate& known, const Planned& planned) const {
  const StageCost cost = known.stages()[*stage_].mean();
  return during_ > before_ && planned.allocation.actors[*stage_] > during_ && shown_ >= kEnough &&
         lasted_ > cost.seconds_with(during_);
}

// Whether what was measured in the trial, not what is believed, is more than chance below the rate
// before.
bool Trial::worse(double noise) const {
  if (shown_ < kEnough) return false;
  const double rate = during_ * shown_ / shown_seconds_;
  return rate < (1 - kMostLost - kChance * noise / std::sqrt(shown_)) * rate_before_;
}

std::optional<Trial::Candidate> Trial::candidate(const Observation& seen,
                                                 const PipelineEstimate& known) const {
  if (seen.is_fed()) return std::nullopt;
  const std::vector<StageCost> costs = known.mean();
  const std::vector<std::uint32_t> actors = seen.allocation().actors;
  std::optional<std::size_t> slowest;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!known.stages()[i].seen()) return std::nullopt;
    if (slowest && costs[i].rate(actors[i]) >= costs[*slowest].rate(actors[*slowest])) continue;
    slowest = i;
  }
  const std::size_t i = *slowest;
  const double service = costs[i].seconds_with(actors[i]);
  if (!holds_up(seen.stages[i]) || done_[i] < kEnough ||
      seconds_[i] < std::max(known.pace() * kSettling, kServices * service)) {
    return std::nullopt;
  }
  const std::uint32_t more = affordable(seen, known, {i, hoped(seen, known, i)});
  const std::uint32_t fewer = affordable(seen, known, {i, 1});
  const bool up = more > std::max<double>(actors[i], most_[i]);
  const bool down =
      fewer < std::min(kFlat * actors[i], least_[i]) && costs[i].slow(actors[i]) > kCrowded;
  // Where there is no room for more, a few fewer show as well which way the rate goes.
  const bool slightly = !up && !has_room(seen, i) && costs[i].slow(actors[i]) > kContended &&
                        fewer < std::min(kSlightly * actors[i], least_[i]);
  if (!up && !down && !slightly) return std::nullopt;
  return Candidate{i, up && (!down || failed_[i] % 2 == 0) ? more : fewer};
}

// Whether one more actor of the stage would fit.
bool Trial::has_room(const Observation& seen, std::size_t stage) const {
  Allocation more = seen.allocation();
  return ++more.actors[stage] <= description_.stages[stage].max_actors &&
         fits(description_, more, seen.limits);
}

// The actors with which the stage would do most if the belief were wrong: if its time did not grow
// with them, and they waited for no limit; none if that is not worth a trial.
std::uint32_t Trial::hoped(const Observation& seen, const PipelineEstimate& known,
                           std::size_t stage) const {
  std::vector<StageCost> costs = known.mean();
  const std::vector<std::uint32_t> actors = seen.allocation().actors;
  const double now = steady_rate(costs, actors, known.cpus(), known.trainer_rate());
  const double service = costs[stage].seconds_with(actors[stage]);
  costs[stage] = costs[stage].max_rate > 0 ? known.stages()[stage].if_latency()
                                           : StageCost{.seconds = service, .cpu = costs[stage].cpu};
  const Plan best = best_allocation(description_, costs,
                                    {.limits = {known.cpus(), seen.limits.memory_bytes},
                                     .trainer_rate = known.trainer_rate(),
                                     .precision = kPlanPrecision});
  return best.splits_per_second < kWorthwhile * now ? 0 : best.allocation.actors[stage];
}

std::uint32_t Trial::affordable(const Observation& seen, const PipelineEstimate& known,
                                const Candidate& wanted) const {
  const std::vector<StageCost> costs = known.mean();
  Allocation tried = seen.allocation();
  std::uint32_t& actors = tried.actors[wanted.stage];
  const std::uint32_t before = actors;
  const double least =
      (1 - kMostLost) * steady_rate(costs, tried.actors, known.cpus(), known.trainer_rate());
  const auto bearable = [&] {
    return actors <= description_.stages[wanted.stage].max_actors &&
           fits(description_, tried, seen.limits) &&
           steady_rate(costs, tried.actors, known.cpus(), known.trainer_rate()) >= least;
  };
  if (wanted.actors == 0) return before;
  const auto most = static_cast<std::uint32_t>(std::ceil(kMostGrowth * before));
  const auto least_actors = static_cast<std::uint32_t>(std::ceil(before / kMostGrowth));
  const std::uint32_t end = std::clamp(wanted.actors, least_actors, most);
  // The bearable numbers next to `before` are an interval: bisection finds its end.
  std::uint32_t good = before;
  std::uint32_t bad = end > before ? end + 1 : end - 1;
  while (std::max(good, bad) - std::min(good, bad) > 1) {
    actors = std::min(good, bad) + (std::max(good, bad) - std::min(good, bad)) / 2;
    (bearable() ? good : bad) = actors;
  }
  return good;
}

}  // namespace forebay::tuner
