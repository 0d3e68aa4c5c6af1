#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/memory_shares.h"
#include "actors/sizing.h"
#include "actors/stage/stage_pools.h"
#include "core/data/buffer_pool.h"
#include "core/data/memory_budget.h"
#include "core/runtime/synchronized.h"
#include "core/wire/column_frames.h"
#include "core/wire/frame.h"
#include "engine/run/job_run.h"

namespace forebay {

/// A worker's stages: a split's number in, its columns as frames out.
///
/// Owns the pools, their threads and every buffer, frames that are still on their way included:
/// it must outlive them. Any thread may call it.
class NodeStages final : SplitSink {
 public:
  struct Options {
    JobRun& run;
    std::uint64_t room = 0;  ///< For buffers and threads; what a worker has beside itself.
    std::function<void(std::uint64_t number, Frames)> done;  ///< On the last stage's threads.
    std::function<void(const Error&)> failed;                ///< On the failing actor's thread.
  };

  explicit NodeStages(Options options);
  ~NodeStages() override;

  /// Lets the stages make a split; there is room for slots() of them.
  void make(std::uint64_t number);

  /// kOverloaded when there is no memory for another actor's thread.
  Status resize(Stage stage, std::uint32_t actors);
  std::vector<std::uint32_t> actors() const;

  /// Finished splits that may wait beside those in work.
  void set_waiting(std::uint32_t splits);
  std::uint32_t waiting() const { return waiting_; }

  /// How many splits it can hold, in work and finished.
  std::size_t slots() const;

  void set_compression(Compression compression) { compression_ = compression; }
  void stop() { stages_.cancel(); }

  std::vector<StageStats> stats() const { return stages_.stats(); }
  std::uint64_t threads() const { return stages_.threads(); }
  std::uint64_t buffer_bytes() const { return budget_.used(); }
  /// Told to make and not done.
  std::uint64_t in_work() const {
    return begun_.load(std::memory_order_relaxed) - done_.load(std::memory_order_relaxed);
  }
  std::uint64_t splits_done() const { return done_.load(std::memory_order_relaxed); }
  const MemorySizes& sizes() const { return sizing_.sizes(); }
  std::uint64_t splits_per_epoch() const { return order_.num_splits(); }

  /// Of the columns that were packed, and of the frames that came of it.
  std::uint64_t plain_bytes() const { return plain_.load(std::memory_order_relaxed); }
  std::uint64_t packed_bytes() const { return packed_.load(std::memory_order_relaxed); }
  /// Packed data of a split of this job, not compressed; empty before there is one.
  std::vector<std::byte> sample() const;
  BufferPool& buffers() { return buffers_; }

  /// The least room with which it can work at all.
  static std::uint64_t least_room_of(JobRun& run);

 private:
  struct Rate {
    std::chrono::nanoseconds at{0};
    std::uint64_t done = 0;
    double splits_per_second = 0;
  };

  Status put(ColumnSplit&& split, PoolContext& context) override;
  std::uint64_t wanted_actors() const;
  std::uint64_t on_the_way() const;
  void keep_sample(const Frames& frames);

  const Options options_;
  const EpochOrder order_;
  const Sizing sizing_;
  const std::vector<std::int64_t> bounds_;
  MemoryBudget budget_;
  BufferPool buffers_;
  std::atomic<std::uint32_t> waiting_{2};
  std::atomic<Compression> compression_{Compression::kNone};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> plain_{0};
  std::atomic<std::uint64_t> packed_{0};
  const Synchronized<> serial_{};
  std::vector<std::byte> sample_;  // under serial_, as rate_
  mutable Rate rate_;
  std::array<std::atomic<std::uint32_t>, kNumStages> wanted_{};
  StagePools stages_;
};

}  // namespace forebay
