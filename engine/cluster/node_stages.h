#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/sizing.h"
#include "actors/stage/stage_pools.h"
#include "core/base/clock.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/synchronized.h"
#include "core/wire/column_frames.h"
#include "core/wire/compression.h"
#include "core/wire/frame.h"
#include "engine/run/job_run.h"

namespace forebay {

/// A worker's stages: take a split's number, produce its columns as frames.
///
/// Owns the pools and their threads, and shares the buffers with the frames that it made: these may
/// outlive it. Any thread may call it; the destructor waits for the actors' threads.
class NodeStages final : StageOwner {
 public:
  struct Options {
    JobRun& run;
    /// Bytes for buffers and threads, without the rest of the worker process.
    std::uint64_t room = 0;
    /// Called on the last stage's threads.
    std::function<void(std::uint64_t number, Frames)> done;
    std::function<void(const Error&)> failed;  ///< Called on the failing actor's thread.
    std::uint64_t opening = 0;  ///< Of the job on this node; tells its stages from others.
    double cpus = 0;            ///< StagePools::Options::cpus.
  };

  explicit NodeStages(Options options);
  ~NodeStages() override;

  /// Starts making a split; one that is being made already is not made twice. At most slots()
  /// splits may be in progress or finished.
  void make(std::uint64_t number);

  StagePools& stages() { return stages_; }
  std::uint64_t opening() const { return options_.opening; }

  /// Sets how many finished splits may wait besides those in progress.
  void set_waiting(std::uint32_t splits);
  std::uint32_t waiting() const { return waiting_; }

  /// Whether it asks for splits; a node that is not fed finishes what it holds.
  void set_fed(bool fed) { fed_ = fed; }
  bool fed() const { return fed_; }

  /// Returns how many splits it can hold, in progress and finished; 0 while it is not fed.
  std::size_t slots() const;

  void set_compression(Compression compression) { compression_ = compression; }
  Compression compression() const { return compression_; }

  /// Makes no more splits: the actors end after the split that they hold. Memory that no actor and
  /// no frame uses goes back to the system, the rest as soon as they are done with it.
  void stop();
  /// After stop(): whether all actors have ended, so that the destructor does not wait.
  bool is_idle() const { return stages_.threads() == 0; }

  std::vector<StageStats> stats() const { return stages_.stats(); }
  std::uint64_t buffer_bytes() const { return memory_->budget.used(); }
  /// Splits that were passed to make() and are not done.
  std::uint64_t in_work() const {
    return begun_.load(std::memory_order_relaxed) - done_.load(std::memory_order_relaxed);
  }
  std::uint64_t splits_done() const { return done_.load(std::memory_order_relaxed); }
  /// The same in splits and parts: the messages that left the last stage.
  std::uint64_t parts_done() const { return parts_done_.load(std::memory_order_relaxed); }
  const MemorySizes& sizes() const { return sizing_.sizes(); }
  /// Memory of a split that the node holds, in progress or finished.
  std::uint64_t held_split_bytes() const;
  std::uint64_t splits_per_epoch() const { return order_.num_splits(); }

  /// Samples whether the actors have as many splits as they can work on, and fits the queues
  /// between them. Call it a few times a second, from one thread.
  void watch();
  /// The share of the last samples in which they had, 0 to 1.
  double busy() const { return busy_.load(std::memory_order_relaxed); }

  /// Splits per second that the stages could make with enough leases; 0: not known.
  double could_make() const { return could_make_.load(std::memory_order_relaxed); }
  void set_could_make(double splits_per_second) { could_make_ = splits_per_second; }

  /// Bytes of the columns before packing, and bytes of the packed frames.
  std::uint64_t plain_bytes() const { return plain_.load(std::memory_order_relaxed); }
  std::uint64_t packed_bytes() const { return packed_.load(std::memory_order_relaxed); }
  /// Packed, uncompressed data of one split of this job; empty until a split was made.
  std::vector<std::byte> sample() const;
  BufferPool& buffers() { return memory_->pool; }
  /// Resident bytes of the child processes of its actors now. Any thread.
  std::uint64_t child_bytes() const { return plan().child_bytes(); }
  const TransformPlan& plan() const { return options_.run.plan(); }

  /// The smallest `room` with which the stages can work.
  static std::uint64_t least_room_of(const JobRun& run);

 private:
  struct Rate {
    std::chrono::nanoseconds at{0};
    std::uint64_t done = 0;
    double splits_per_second = 0;
  };

  /// The packed parts of a split whose other parts are still made.
  struct PackedParts {
    std::vector<Frames> parts;
    std::size_t missing = 0;
  };

  /// Lives until the stages and the last frame are gone.
  struct Memory {
    explicit Memory(std::uint64_t limit) : budget(limit), pool(budget) {}
    MemoryBudget budget;
    BufferPool pool;
  };

  Status put(Split&& split, PoolContext& context) override;
  Frames pack(const Split& split, Compression compression) const;
  void deliver(const Split& split, Frames frames);
  std::optional<Frames> join(const Split& part, Frames frames);
  void failed(const Error& error) override { options_.failed(error); }
  bool has_room_for(std::uint64_t threads, std::uint64_t children) const override;
  void resized() override;
  std::uint64_t on_the_way() const;
  void keep_sample(const Frames& frames);

  const Options options_;
  const EpochOrder order_;
  const Sizing sizing_;
  const std::vector<std::int64_t> bounds_;
  const std::shared_ptr<Memory> memory_;
  std::atomic<std::uint32_t> waiting_{2};
  std::atomic<bool> fed_{true};
  std::atomic<Compression> compression_{Compression::kNone};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> parts_done_{0};
  std::atomic<std::uint64_t> plain_{0};
  std::atomic<std::uint64_t> packed_{0};
  std::atomic<double> busy_{1};
  std::atomic<double> could_make_{0};
  const Synchronized<> serial_{};
  std::vector<std::byte> sample_;                      // guarded by serial_, like the three below
  std::map<std::uint64_t, PackedParts> packed_parts_;  // by split number
  std::set<std::uint64_t> in_progress_;                // splits, by number
  mutable Rate rate_;
  StagePools stages_;
};

}  // namespace forebay
