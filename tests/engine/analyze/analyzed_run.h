#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "actors/stage_list.h"
#include "engine/analyze/run_sample.h"

namespace forebay::test {

/// A job with an operator, as stages_of() gives its stages.
inline StageList stages_of_a_job() {
  using Kind = StageInfo::Kind;
  return {{.name = "load", .kind = Kind::kLoad},
          {.name = "decode", .kind = Kind::kDecode},
          {.name = "shuffle", .kind = Kind::kShuffle},
          {.name = "transform", .kind = Kind::kTransform, .first_op = 0, .end_op = 2}};
}

/// What a pool did: seconds of work, of CPU in it, of wanting a CPU, and of waiting for splits.
struct Worked {
  double busy = 0;
  double cpu = 0;
  double ready = 0;
  double idle = 0;
};

inline std::chrono::nanoseconds seconds(double count) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(count * 1e9));
}

inline PoolStats pool(const Worked& worked, std::uint64_t splits) {
  PoolStats stats;
  stats.actors = 1;
  stats.totals.busy = seconds(worked.busy);
  stats.totals.cpu = seconds(worked.cpu);
  stats.totals.wait_input = seconds(worked.idle);
  stats.totals.messages = splits;
  stats.totals.done = {.time = seconds(worked.busy),
                       .cpu = seconds(worked.cpu),
                       .ready = seconds(worked.ready),
                       .squared_seconds = 0,
                       .actors = splits};
  return stats;
}

/// The first sample of a job, and one ten seconds later, of 100 splits of 1000 rows.
struct AnalyzedRun {
  RunSample first;
  RunSample last;

  AnalyzedRun() {
    for (const StageInfo& stage : stages_of_a_job()) add(stage.name, {.idle = 10});
    add("batch", {.idle = 10});
    for (RunSample* each : {&first, &last}) each->pipeline.actors_wanted = {1, 1, 1, 1};
    last.at = seconds(10);
    last.rows = 100'000;
    last.batches = last.steps = 50;
    last.waited = seconds(10);
    for (const std::string name : {"transform 1 (log1p)", "transform 2 (spin)"}) {
      first.operators.push_back({.name = name, .number = first.operators.size()});
    }
    last.operators = first.operators;
  }

  void stage(std::size_t number, const Worked& worked) {
    last.pipeline.stages[number].pool = pool(worked, 100);
    last.cpu_seconds += worked.cpu;
  }

 private:
  void add(const std::string& name, const Worked& worked) {
    first.pipeline.stages.push_back({.name = name, .pool = pool({}, 0)});
    last.pipeline.stages.push_back({.name = name, .pool = pool(worked, 100)});
  }
};

}  // namespace forebay::test
