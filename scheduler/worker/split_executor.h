#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"
#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// Executor → worker: the job is open with this fingerprint; or `error` says why it cannot be
/// opened.
struct WorkOpened {
  static constexpr std::string_view kTag = "worker.opened/1";
  std::uint64_t opening = 0;  ///< As given to `open`; the same in the messages below.
  std::string fingerprint;
  std::optional<Error> error = std::nullopt;
  /// With `error`: this worker's own options cannot serve the job.
  bool misconfigured = false;
};

/// Executor → worker: a split is made. core/wire/column_frames.h writes its `frames`.
struct WorkDone {
  static constexpr std::string_view kTag = "worker.done/1";
  std::uint64_t opening = 0;
  std::uint64_t split = 0;
  Frames frames;
  bool handed_on = false;  ///< It is in this process's reorder buffer; there are no frames.
};

/// Executor → worker: a split cannot be made here. The worker is then leased no more splits.
struct WorkFailed {
  static constexpr std::string_view kTag = "worker.failed/1";
  std::uint64_t opening = 0;
  std::optional<std::uint64_t> split;  ///< Nothing: one of those in work, unknown which.
  Error error;
};

using WorkResults = ActorRef<WorkOpened, WorkDone, WorkFailed>;

/// Makes the splits that are leased to a worker: the pools of the stages on its node.
///
/// All calls come from the worker actor's thread, and none may block. The results are sent to the
/// worker actor (`WorkResults`) from any thread; the worker ignores results of an earlier opening.
class SplitExecutor {
 public:
  virtual ~SplitExecutor() = default;

  /// Opens the job, and cancels all splits of an earlier job that are in work. Answered by one
  /// WorkOpened.
  virtual void open(const JobShare& job, std::uint64_t opening) = 0;

  /// Makes a split of the open job. Answered by one WorkDone or WorkFailed, unless the split is
  /// forgotten; an answer may still arrive after that.
  virtual void begin(std::uint64_t split) = 0;

  /// Cancels a split. Returns true if its work had not begun, so that no work was wasted.
  virtual bool forget(std::uint64_t split) = 0;

  /// Whether the work on a split passed to begin() has started.
  virtual bool begun(std::uint64_t split) const = 0;

  /// Splits that it wants to hold at a time: in work, waiting, and made but not fetched yet.
  virtual std::uint32_t slots() const = 0;

  struct Load {
    double busy_cpus = 0;  ///< Mean since the last call.
    std::uint64_t memory_bytes = 0;
    double could_make = 0;  ///< Splits per second with enough leases; 0: not known.
    double busy = 1;        ///< The share of time in which it had as much work as it takes.
    double cpus = 0;        ///< That it may use now; 0: as WorkerOptions. The same for the memory.
    std::uint64_t memory_limit = 0;
  };
  virtual Load load() = 0;

  /// What this process has used for the open job; nothing if others count it.
  virtual JobUse use() const { return {}; }
};

}  // namespace forebay::scheduler
