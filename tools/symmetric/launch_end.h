#pragma once

#include <string>

#include "tools/symmetric/launched_process.h"

namespace forebay {

/// How the processes of a launch learn that rank 0 has ended its run well, if they look only then:
/// rank 0 leaves the launch's id in a file of the job's folder. Helps processes that share this
/// folder; a launch without an id has no such file.
class LaunchEnd {
 public:
  LaunchEnd(const LaunchedProcess& placement, const std::string& run_dir);

  /// For rank 0, before it becomes the trainer: removes the file of an earlier launch, and hands
  /// this object over to the trainer in the process's environment.
  void hand_over() const;
  /// For the other processes: whether rank 0 has ended well.
  bool has_come() const;

  /// For the trainer: returns what was handed over, and clears the environment, which its children
  /// would inherit. Call once, before threads start.
  static LaunchEnd handed_over();
  /// For the trainer, when it has ended well. Does nothing in a process that symmetric-run did not
  /// start.
  void tell() const;

 private:
  LaunchEnd() = default;

  std::string id_;    // "": unknown
  std::string path_;  // absolute
};

}  // namespace forebay
