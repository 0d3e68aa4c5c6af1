#pragma once

#include "engine/process/stop_source.h"
#include "engine/run/job_run.h"

namespace forebay {

/// Ends a run's stream of batches after a stop request.
///
/// look() is called a few times a second by one thread: the request may come from a signal handler,
/// which can only set a flag. `stop` and `run` must outlive it.
class StopRelay {
 public:
  /// `stop` may be null: no stop requests.
  StopRelay(const StopSource* stop, JobRun& run) : stop_(stop), run_(run) {}

  void look() {
    if (passed_on_ || stop_ == nullptr || !stop_->requested()) return;
    passed_on_ = true;
    run_.stop();
  }

 private:
  const StopSource* const stop_;
  JobRun& run_;
  bool passed_on_ = false;
};

}  // namespace forebay
