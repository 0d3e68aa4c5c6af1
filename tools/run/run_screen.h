#pragma once

#include <chrono>
#include <string>

#include "tools/command/command.h"
#include "tools/job/job_spec.h"
#include "tools/run/job_run.h"
#include "tools/run/run_monitor.h"
#include "tools/run/run_outcome.h"

namespace forebay {

/// What a person sees of a running job, and the ear that hears her stop it.
///
/// Shows progress and warns of stalls from its construction to end(); an asked-for stop ends the run's
/// stream of batches; a stall past `run.stall_fail` ends the process. The run must outlive it.
class RunScreen {
 public:
  RunScreen(JobRun& run, const JobSpec& job, std::string command);

  /// For the time before a run exists: announcements, and the stop flag.
  static JobRun::Hooks opening();

  /// Nothing is shown from now on.
  void end();
  std::chrono::nanoseconds elapsed() const;

 private:
  void look();

  JobRun& run_;
  const JobSpec& job_;
  const std::string command_;
  const std::chrono::nanoseconds began_;
  std::chrono::nanoseconds ended_{0};
  bool stopped_ = false;
  std::unique_ptr<RunMonitor> monitor_;
};

/// Ends the process at once when actors may still be at work, since one stuck in a user's function
/// would hold up an orderly end; everything that had to be saved has been.
Exit leave(Exit exit);

/// The end of a run in words.
void print_summary(const RunOutcome& outcome, const JobSpec& job);

}  // namespace forebay
