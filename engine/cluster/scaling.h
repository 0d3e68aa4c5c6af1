#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/thread/start_thread.h"
#include "engine/job/job_spec.h"
#include "scheduler/autoscaler.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Asks the launcher for as many workers as the trainer needs: runs `cluster.scale` with the number
/// of workers appended.
///
/// Decides once a period from the rate at which the trainer takes splits and the rate at which
/// workers make them. At most one command runs at a time. Belongs to one thread; the destructor
/// waits for the command.
class Scaling {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Sums of what the trainer has taken since the start.
  struct Taken {
    std::chrono::nanoseconds at{0};
    std::uint64_t splits = 0;  ///< Splits, counted when they leave in batches.
    std::chrono::nanoseconds waited{0};
  };

  Scaling(const JobSpec& job, Say say);

  /// `local_node` is the name of the trainer's own worker among the nodes.
  void look(const scheduler::ClusterStatus& status, const Taken& now,
            const std::string& local_node);

  /// Returns the number of workers worth having; nullopt until it is known.
  std::optional<std::uint32_t> wanted() const;
  /// Returns whether a command is running.
  bool busy() const { return asking_; }

 private:
  void ask_for(const scheduler::ScaleDecision& decision);

  const std::string command_;
  const std::chrono::nanoseconds period_;
  const Say say_;
  scheduler::Autoscaler autoscaler_;
  std::optional<Taken> before_;
  std::atomic<std::int64_t> wanted_{-1};
  std::atomic<bool> asking_{false};
  std::unique_ptr<Thread> asker_;
};

}  // namespace forebay
