#pragma once

#include <cstddef>
#include <queue>
#include <vector>

#include "tuner/emulated/virtual_machine_work.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/shared_speeds.h"

namespace forebay::tuner {

/// The work of nodes whose stages share resources beside the CPUs: each split progresses as
/// SharedSpeeds says. Its lines are those of tuner/world/world_layout.h. Pure: times are passed in
/// and never go back. Does not own the work.
class SharedWork {
 public:
  explicit SharedWork(const PipelineModel& model);

  /// Work that takes `seconds` alone began at `at`, at most `now` and at least its `begin`.
  void start(WorkItem& work, double seconds, double at, double now);
  /// Takes over CPUs and rates.
  void set(const PipelineModel& model, double now);
  /// When the next work ends if nothing changes; infinity if there is none.
  double next_end() const;
  void advance(double now);
  /// Removes the work that ends now and fills in what it took.
  WorkItem& pop(double now);
  /// Removes a node's work, which ends no more; appends it to `dropped`.
  void drop(std::size_t node, std::vector<WorkItem*>& dropped);
  double cpu_seconds(std::size_t line) const { return lines_[line].used; }

 private:
  struct Running {
    double end = 0;  // On the line's clock.
    WorkItem* work = nullptr;
    double seconds = 0;
    double cpu = 0;  // The line's clocks when it began.
    double ready = 0;
    bool operator<(const Running& other) const { return end > other.end; }
  };
  /// One stage of a node: clocks of the work, CPU time and waiting for a CPU of a split that always
  /// runs.
  struct Line {
    SharedSpeeds::Speed speed = {};
    double clock = 0;
    double cpu = 0;
    double ready = 0;
    double used = 0;  // CPU seconds of all splits.
    std::priority_queue<Running> running = {};
  };

  double end_of(const Line& line) const;
  std::size_t line_of(const WorkItem& work) const { return work.node * stages_ + work.stage; }
  void take_over_speeds();

  std::size_t stages_;
  SharedSpeeds speeds_;
  std::vector<Line> lines_;
  double now_ = 0;
};

}  // namespace forebay::tuner
