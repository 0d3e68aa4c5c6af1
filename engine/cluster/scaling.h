#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/runtime/thread.h"
#include "engine/job/job_spec.h"
#include "scheduler/autoscaler.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Asks the launcher for as many workers as feed the trainer: runs `cluster.scale` with their
/// number behind it.
///
/// Decides once a period from what the trainer took and what workers make. A command that still
/// runs is waited for before the next one. Belongs to one thread; its end waits for the command.
class Scaling {
 public:
  using Say = std::function<void(const std::string&)>;

  /// What the trainer has taken since the start.
  struct Taken {
    std::chrono::nanoseconds at{0};
    std::uint64_t splits = 0;  ///< In batches.
    std::chrono::nanoseconds waited{0};
  };

  Scaling(const JobSpec& job, Say say);

  /// `local_node` is the trainer's own among the nodes.
  void look(const scheduler::ClusterStatus& status, const Taken& now,
            const std::string& local_node);

  /// Workers that would be worth having; nothing before it is known.
  std::optional<std::uint32_t> wanted() const;
  /// Whether a command runs.
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
