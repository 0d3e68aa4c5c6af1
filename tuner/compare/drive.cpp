#include "tuner/compare/drive.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "tuner/tuner.h"

namespace forebay::tuner {
namespace {

bool possible(const Allocation& allocation, std::size_t stages) {
  return allocation.actors.size() == stages &&
         std::ranges::find(allocation.actors, 0U) == allocation.actors.end() &&
         allocation.prefetch > 0;
}

constexpr std::uint64_t kStepsPerPeriod = 20;  // Ten a second.

/// CPU time of the calling thread, so that concurrent runs do not count.
class ThreadCpuClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return thread_cpu_time(); }
};

class Driver {
 public:
  Driver(ModelledPipeline& machine, std::unique_ptr<Policy> policy, DriveOptions options)
      : machine_(machine), policy_(std::move(policy)), options_(std::move(options)) {
    if (!options_.guarded) return;
    tuner_ = std::make_unique<Tuner>(Tuner::Options{.tuned_pipeline = machine_,
                                                    .clock = clock_,
                                                    .policy = std::move(policy_),
                                                    .fallback = std::move(options_.fallback)});
  }

  DriveRecord run() {
    double deciding = 0;
    std::uint64_t decided = 0;
    for (std::uint64_t number = 1; number <= options_.decisions; ++number) {
      record_.stopped = record_.stopped || (options_.stopped && options_.stopped());
      if (record_.stopped) break;
      advance();
      if (record_.trace.out_of_memory) {
        end_period(number, machine_.observe());
        stand_still(number + 1);
        break;
      }
      const Decision decision = tuner_ ? tuner_->decide() : decide_unguarded();
      end_period(number, decision.seen);
      deciding += decision.decide_seconds;
      ++decided;
      record_.faults += decision.fault.empty() ? 0 : 1;
      record_.guarded += decision.guarded.empty() ? 0 : 1;
    }
    if (decided > 0) record_.seconds_per_decision = deciding / static_cast<double>(decided);
    return std::move(record_);
  }

 private:
  /// Runs up to the next decision, or until the machine runs out of memory.
  void advance() {
    // Counts from the end of the last period: in real time, a period that took long is not made up
    // for.
    const double begin = before_.seconds;
    for (std::uint64_t step = 1; step <= kStepsPerPeriod; ++step) {
      machine_.run_until(begin + kPeriodSeconds * static_cast<double>(step) / kStepsPerPeriod);
      const SimTotals totals = machine_.totals();
      if (totals.out_of_memory) {
        record_.trace.out_of_memory = true;
        record_.trace.out_of_memory_seconds = totals.seconds;
        return;
      }
      if (tuner_ && step < kStepsPerPeriod) tuner_->step();
    }
  }

  /// Asks the policy and applies its proposal without a guard, as rival policies were designed to
  /// run: every allocation with at least one actor per stage is applied, even if it does not fit.
  /// If the policy throws or proposes no valid allocation, the decision records the fault and the
  /// current allocation stays.
  Decision decide_unguarded() {
    Decision decision;
    decision.seen = machine_.observe();
    const auto began = clock_.now();
    try {
      decision.proposal = policy_->decide(decision.seen);
    } catch (const std::exception& thrown) {
      decision.fault = std::string("threw: ") + thrown.what();
    }
    decision.decide_seconds = in_seconds(clock_.now() - began);
    if (!decision.fault.empty()) return decision;
    if (possible(decision.proposal.allocation, machine_.description().stages.size())) {
      decision.applied = decision.proposal.allocation;
      machine_.apply(decision.applied);
    } else {
      decision.fault = "proposes no allocation";
    }
    return decision;
  }

  void end_period(std::uint64_t number, const Observation& seen) {
    const SimTotals totals = machine_.totals();
    Period period;
    period.decision = number - 1;
    period.begin_seconds = before_.seconds;
    period.end_seconds = totals.out_of_memory
                             ? std::max(totals.seconds, before_.seconds + kPeriodSeconds)
                             : totals.seconds;
    period.trained = totals.trained - before_.trained;
    period.prefetch = seen.prefetch;
    period.memory_bytes = seen.memory_bytes;
    period.memory_peak = seen.memory_peak;
    for (const StageObservation& stage : seen.stages) period.actors.push_back(stage.actors);
    const double length = period.end_seconds - period.begin_seconds;
    period.cpus_busy = length > 0 ? (totals.cpu_seconds - before_.cpu_seconds) / length : 0;
    before_ = totals;
    record_.trace.periods.push_back(std::move(period));
  }

  /// Records the rest of a run that ran out of memory: time in which no split is trained.
  void stand_still(std::uint64_t number) {
    double end = record_.trace.periods.back().end_seconds;
    for (; number <= options_.decisions; ++number) {
      Period& period = record_.trace.periods.emplace_back();
      period.decision = number - 1;
      period.begin_seconds = end;
      period.end_seconds = end += kPeriodSeconds;
      period.actors.resize(machine_.description().stages.size());
    }
  }

  ModelledPipeline& machine_;
  std::unique_ptr<Policy> policy_;  // Null if the tuner has it.
  DriveOptions options_;
  ThreadCpuClock clock_;
  std::unique_ptr<Tuner> tuner_;
  SimTotals before_;
  DriveRecord record_;
};

}  // namespace

const OracleStretch& oracle_at(const Trace& trace, double seconds) {
  FOREBAY_CHECK(!trace.oracle.empty());
  const auto later = std::ranges::upper_bound(trace.oracle.begin() + 1, trace.oracle.end(), seconds,
                                              {}, &OracleStretch::from_seconds);
  return *(later - 1);
}

double oracle_splits(const Trace& trace, double from_seconds, double to_seconds) {
  double splits = 0;
  for (std::size_t i = 0; i < trace.oracle.size(); ++i) {
    const bool last = i + 1 == trace.oracle.size();
    const double until =
        last ? std::numeric_limits<double>::infinity() : trace.oracle[i + 1].from_seconds;
    const double overlap =
        std::min(to_seconds, until) - std::max(from_seconds, trace.oracle[i].from_seconds);
    if (overlap > 0) splits += overlap * trace.oracle[i].splits_per_second;
  }
  return splits;
}

DriveRecord drive(ModelledPipeline& machine, std::unique_ptr<Policy> policy, DriveOptions options) {
  return Driver(machine, std::move(policy), std::move(options)).run();
}

}  // namespace forebay::tuner
