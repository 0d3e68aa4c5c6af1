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

/// The observations of all parts as that of one pipeline, for the record.
Observation joined(const std::vector<Observation>& parts) {
  Observation whole = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Observation& part = parts[i];
    whole.stages.insert(whole.stages.end(), part.stages.begin(), part.stages.end());
    whole.prefetch = std::max(whole.prefetch, part.prefetch);
    whole.memory_bytes = std::max(whole.memory_bytes, part.memory_bytes);
    whole.memory_peak = std::max(whole.memory_peak, part.memory_peak);
  }
  return whole;
}

class Driver {
 public:
  Driver(ModelledPipeline& machine, std::vector<DrivenPart> parts, DriveOptions options)
      : machine_(machine), parts_(std::move(parts)), options_(std::move(options)) {
    if (!options_.guarded) return;
    for (DrivenPart& part : parts_) {
      tuners_.push_back(
          std::make_unique<Tuner>(Tuner::Options{.tuned_pipeline = part.pipeline,
                                                 .clock = clock_,
                                                 .policy = std::move(part.policy),
                                                 .fallback = std::move(part.fallback)}));
    }
  }

  DriveRecord run() {
    double deciding = 0;
    std::uint64_t decided = 0;
    for (std::uint64_t number = 1; number <= options_.decisions; ++number) {
      record_.stopped = record_.stopped || (options_.stopped && options_.stopped());
      if (record_.stopped) break;
      advance();
      if (record_.trace.out_of_memory) {
        std::vector<Observation> seen;
        for (const DrivenPart& part : parts_) seen.push_back(part.pipeline.observe());
        end_period(number, joined(seen));
        stand_still(number + 1);
        break;
      }
      std::vector<Observation> seen;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Decision decision = decide(i);
        seen.push_back(decision.seen);
        deciding += decision.decide_seconds;
        record_.faults += decision.fault.empty() ? 0 : 1;
        record_.guarded += decision.guarded.empty() ? 0 : 1;
      }
      end_period(number, joined(seen));
      ++decided;
    }
    if (decided > 0) record_.seconds_per_decision = deciding / static_cast<double>(decided);
    return std::move(record_);
  }

 private:
  bool is_present(std::size_t i) const { return !parts_[i].present || parts_[i].present(); }

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
      if (step == kStepsPerPeriod) return;
      // A limit that falls while a part is away holds when it is back.
      for (const auto& tuner : tuners_) tuner->step();
    }
  }

  Decision decide(std::size_t i) {
    if (!is_present(i)) {
      Decision none;
      none.seen = parts_[i].pipeline.observe();
      return none;
    }
    return tuners_.empty() ? decide_unguarded(parts_[i]) : tuners_[i]->decide();
  }

  /// Asks the policy and applies its proposal without a guard, as rival policies were designed to
  /// run: every allocation with at least one actor per stage is applied, even if it does not fit.
  /// If the policy throws or proposes no valid allocation, the decision records the fault and the
  /// current allocation stays.
  Decision decide_unguarded(DrivenPart& part) {
    Decision decision;
    decision.seen = part.pipeline.observe();
    const auto began = clock_.now();
    try {
      decision.proposal = part.policy->decide(decision.seen);
    } catch (const std::exception& thrown) {
      decision.fault = std::string("threw: ") + thrown.what();
    }
    decision.decide_seconds = in_seconds(clock_.now() - began);
    if (!decision.fault.empty()) return decision;
    if (possible(decision.proposal.allocation, part.pipeline.description().stages.size())) {
      decision.applied = decision.proposal.allocation;
      part.pipeline.apply(decision.applied);
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
  std::vector<DrivenPart> parts_;  // Without their policies where tuners have them.
  DriveOptions options_;
  ThreadCpuClock clock_;
  std::vector<std::unique_ptr<Tuner>> tuners_;  // By part; none: nothing is guarded.
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
    const double begin = std::max(from_seconds, trace.oracle[i].from_seconds);
    const double end = std::min(to_seconds, until);
    const double overlap = end - begin;
    if (overlap <= 0) continue;
    const double middle = (begin + end) / 2 - trace.oracle[i].from_seconds;
    splits += overlap * (trace.oracle[i].splits_per_second + trace.oracle[i].growth * middle);
  }
  return splits;
}

DriveRecord drive(ModelledPipeline& machine, std::unique_ptr<Policy> policy, DriveOptions options) {
  std::vector<DrivenPart> parts;
  parts.push_back(
      {.pipeline = machine, .policy = std::move(policy), .fallback = std::move(options.fallback)});
  return drive(machine, std::move(parts), std::move(options));
}

DriveRecord drive(ModelledPipeline& machine, std::vector<DrivenPart> parts, DriveOptions options) {
  return Driver(machine, std::move(parts), std::move(options)).run();
}

}  // namespace forebay::tuner
