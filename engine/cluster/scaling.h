#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/job/job_spec.h"
#include "engine/process/shell_command.h"
#include "scheduler/autoscaler.h"
#include "scheduler/cluster_status.h"
#include "scheduler/missing_workers.h"

namespace forebay {

/// Asks the launcher for as many workers as the trainer needs: runs `cluster.scale` with the number
/// of workers appended.
///
/// Decides once a period from what the trainer took and waited, and from what each worker made and
/// could make. Starts with the number that the last run of the same work needed, and keeps it in a
/// file for the next one. At most one command runs at a time; one that failed is run again later,
/// and one that runs for a minute is reported. Belongs to one thread, but wanted() may be called by
/// any; the destructor ends a command that does not end by itself (ShellCommand).
class Scaling {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Sums of what the trainer has taken since the start.
  struct Taken {
    std::chrono::nanoseconds at{0};
    double splits = 0;          ///< Splits of which the trainer took the rows.
    std::uint64_t arrived = 0;  ///< Splits that became batches, which may wait for the trainer.
    std::chrono::nanoseconds waited{0};
    std::chrono::nanoseconds paused{0};  ///< For checkpoints and evaluation.
  };

  /// `needed_path`: the file with the number that the same work needed in its last run; "": none.
  Scaling(const JobSpec& job, std::string needed_path, Say say);
  ~Scaling();
  Scaling(const Scaling&) = delete;
  Scaling& operator=(const Scaling&) = delete;

  /// `local_node` is the name of the trainer's own worker among the nodes.
  /// `central`: the number that the central tuner wants; nullopt: it decides by itself.
  void look(const scheduler::ClusterStatus& status, const Taken& now, const std::string& local_node,
            std::optional<std::uint32_t> central = std::nullopt);

  /// Returns the number of workers worth having; nullopt until it is known.
  std::optional<std::uint32_t> wanted() const;
  /// Returns whether a command runs, or ran when look() was last called.
  bool busy() const { return running_.has_value(); }

 private:
  scheduler::ScaleInput input_of(const scheduler::ClusterStatus& status, const Taken& now,
                                 const std::string& local_node);
  scheduler::ScaleDecision as_told(std::uint32_t central, const scheduler::ScaleInput& input);
  void ask_for(const scheduler::ScaleDecision& decision, std::chrono::nanoseconds now);
  void look_at_command(std::chrono::nanoseconds now);
  void say_about_command(const std::string& what);
  void keep_needed();

  const std::string command_;
  const std::chrono::nanoseconds period_;
  const std::string needed_path_;
  const Say say_;
  scheduler::Autoscaler autoscaler_;
  const std::uint32_t least_;
  const std::uint32_t most_;
  scheduler::MissingWorkers missing_;       // of those that the central tuner wants
  std::optional<std::uint32_t> told_ = {};  // by it
  std::uint32_t kept_ = 0;                  // in the file
  std::optional<Taken> before_;
  std::map<std::uint64_t, std::uint64_t> made_;  // splits of each member at that time
  std::optional<std::uint32_t> asked_;           // with the last command
  std::chrono::nanoseconds asked_at_{0};
  std::string line_;  // the last command
  std::optional<ShellCommand> running_;
  bool is_long_ = false;  // running_ has been reported
  bool failed_ = false;   // the last command
  std::atomic<std::int64_t> wanted_{-1};
};

}  // namespace forebay
