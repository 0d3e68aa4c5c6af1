#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/message.h"
#include "core/wire/frame.h"
#include "scheduler/job_share.h"

namespace forebay::scheduler {

/// Work → worker: the job is open, and this is what was found; or why it cannot be opened here.
struct WorkOpened {
  static constexpr std::string_view kTag = "worker.opened/1";
  std::uint64_t opening = 0;  ///< As given to `open`, here and below.
  std::string fingerprint;
  std::optional<Error> error = std::nullopt;
};

/// Work → worker: a split is made. `frames` are what core/wire/column_frames.h writes.
struct WorkDone {
  static constexpr std::string_view kTag = "worker.done/1";
  std::uint64_t opening = 0;
  std::uint64_t split = 0;
  Frames frames;
  bool handed_on = false;  ///< It is in this process's reorder buffer already; there are no frames.
};

/// Work → worker: a split cannot be made here. The worker is leased nothing any more.
struct WorkFailed {
  static constexpr std::string_view kTag = "worker.failed/1";
  std::uint64_t opening = 0;
  std::optional<std::uint64_t> split;  ///< Nothing: one of those in work, nobody knows which.
  Error error;
};

using WorkResults = ActorRef<WorkOpened, WorkDone, WorkFailed>;

/// What a worker does with a lease: the stages' pools of its node.
///
/// All calls come from the worker actor's thread, and none may block. What comes of them is told to
/// the worker actor (`WorkResults`), from any thread; what belongs to an earlier opening is
/// ignored there.
class SplitExecutor {
 public:
  virtual ~SplitExecutor() = default;

  /// Opens the job, and gives up whatever an earlier one still has in work. Answered by one
  /// WorkOpened.
  virtual void open(const JobShare& job, std::uint64_t opening) = 0;

  /// Makes a split of the job that is open. Answered by one WorkDone or WorkFailed, unless it is
  /// forgotten; then an answer may still come.
  virtual void begin(std::uint64_t split) = 0;

  /// Nobody wants this split any more. True: it had not begun, nothing was wasted.
  virtual bool forget(std::uint64_t split) = 0;

  /// Whether work on a split that was to begin has begun.
  virtual bool begun(std::uint64_t split) const = 0;

  /// Splits that it wants in hand: in work, waiting for it, and made but not fetched yet.
  virtual std::uint32_t slots() const = 0;

  struct Load {
    double busy_cpus = 0;  ///< Mean since the last call.
    std::uint64_t memory_bytes = 0;
  };
  virtual Load load() = 0;
};

}  // namespace forebay::scheduler
