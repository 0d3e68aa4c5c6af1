#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tools/symmetric/launched_process.h"

namespace forebay {

/// How the processes of a launch that still look for the head learn that rank 0 has ended: rank 0
/// leaves the launch's id and its exit status in a file of the job's folder. Helps processes that
/// share this folder. Not all launchers have ids that are unique for ever, so rank 0 removes the
/// file when it begins, and the others trust it only after kSettled.
class LaunchEnd {
 public:
  static constexpr std::chrono::seconds kSettled{10};

  LaunchEnd(const LaunchedProcess& placement, const std::string& run_dir);

  /// For rank 0, before it becomes the trainer: removes the file of an earlier launch, and hands
  /// this object over to the trainer in the process's environment.
  void hand_over() const;
  /// For the other processes: rank 0's exit status, if it has ended. `waited`: since this process
  /// began.
  std::optional<int> status(std::chrono::nanoseconds waited) const;

  /// For the trainer: reads what hand_over() left, and clears the environment, which its children
  /// would inherit. Call once, before threads start.
  static LaunchEnd handed_over();
  /// For the trainer, when it ends. Does nothing in a process that symmetric-run did not start.
  void tell(int status) const;

 private:
  LaunchEnd() = default;

  std::string id_;    // "": of no launch
  std::string path_;  // absolute
};

}  // namespace forebay
