#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/stage/fused_work.h"
#include "actors/stage/part_queue.h"
#include "actors/stage/split.h"
#include "actors/stage/stage_queues.h"
#include "actors/stage/stage_worker.h"
#include "actors/stage_groups.h"
#include "actors/stage_list.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/pool/pool_engine.h"
#include "core/runtime/stage_pool.h"

namespace forebay {

/// Owns stages: takes their finished splits, and has the memory that their actors use.
class StageOwner {
 public:
  virtual ~StageOwner() = default;

  /// Takes a finished split; may wait for free bytes, inside a PoolContext::OutputWait. Called on
  /// the threads of the last stage's actors, several at a time.
  virtual Status put(Split&& split, PoolContext& context) = 0;

  /// An actor failed, while the others continue. Called on its thread.
  virtual void failed(const Error& error) = 0;

  /// Returns whether there is memory for so many actors' threads, and so many bytes of their child
  /// processes.
  virtual bool has_room_for(std::uint64_t threads, std::uint64_t children) const = 0;

  /// All pieces of a split of grains are decoded. Returns whether its parts are to be made: not if
  /// another node has made the split by now. Called on a decode actor's thread.
  virtual bool takes(const SplitId& /*id*/, std::uint64_t /*rows*/) { return true; }

  /// Divides the memory anew, since the number of actors changed.
  virtual void resized() {}
};

/// The bytes of a mailbox that the issuer of splits bounds already.
inline constexpr std::size_t kUnbounded = ~std::size_t{0} / 2;

/// The options of a pool that takes the lowest split first and reports failures to `owner`.
StagePool<Split>::Options split_pool(std::string name, std::size_t mailbox_bytes, StageOwner& owner,
                                     std::function<std::unique_ptr<PoolWorker<Split>>()> factory);

/// The pools of a job's stages, one for each of TransformPlan::stages(): the making of a split on
/// any node.
///
/// Stages of one group (StageGroups) are done by the actors of the group's first stage, and have
/// one number of actors. resize() moves the cuts between groups while splits are made: an actor
/// takes the split that it holds through the group that it began with; splits that wait for a stage
/// that has joined the one before it are done by its last actor, which then ends. Splits of grains
/// are decoded in pieces and shuffled in parts, so no group reaches over the end of decode then.
///
/// Owns the pools and their threads; starts no thread until start(). The objects that Options
/// refers to outlive it. Every method may be called from any thread; the destructor stops and
/// joins.
class StagePools {
 public:
  struct Options {
    StageInputs inputs;
    std::vector<std::uint32_t> actors;  ///< For each stage, at start(); equal within a group.
    std::size_t mailbox_bytes = 0;      ///< Between two stages, usually; see fit_queues().
    double cpus = 0;  ///< That this process may use; 0: unknown, and every mailbox stays as usual.
    const Clock& clock;
    StageOwner& owner;
    StageGroups groups = StageGroups::apart();  ///< At start().
  };

  explicit StagePools(Options options);
  ~StagePools();
  StagePools(const StagePools&) = delete;
  StagePools& operator=(const StagePools&) = delete;

  void start();

  /// Makes a split of which only `id` and the blocks are set. Never waits: the issuer of splits
  /// bounds their number.
  void make(Split split);

  /// Cuts a split into the pieces and parts that it is made in: one, unless its blocks are grains.
  SplitCut cut(const std::vector<BlockRef>& blocks) const;

  /// Parts of splits of grains are out of this budget until returned(). It is empty at first: then
  /// each split has one part out at a time.
  MemoryBudget& part_budget() { return parts_.budget(); }
  const MemoryBudget& part_budget() const { return parts_.budget(); }

  /// The owner has used up a split or a part, which came with this id. Only a part has bytes in
  /// the budget.
  void returned(const SplitId& part) { make_parts(parts_.returned(part)); }

  /// Grows or shrinks the pool of a stage, between two splits; the stages behind it in its group
  /// follow. If the stage belonged to the group of the stage before it, it begins a group of its
  /// own now. With 0 actors it joins the group of the stage before it. Called by one thread at a
  /// time. kOverloaded: the owner has no memory for another actor's thread; kInvalid: 0 for the
  /// first stage, or for the one behind decode where splits have grains.
  Status resize(std::size_t stage, std::uint32_t actors);

  /// Fits the mailboxes between stages to the bursts of their actors (QueueDepth). Call it often,
  /// by one thread at a time; it acts ten times a second.
  void fit_queues();
  /// The splits that may wait between stages beyond the usual ones: an owner that bounds the splits
  /// issues more by so many, if it has memory for them. Any thread.
  std::uint64_t deepened() const { return deepened_.load(std::memory_order_relaxed); }

  /// Stops accepting splits; the actors end after the split they hold.
  void cancel();

  /// Blocks, after cancel(), until every actor's thread has ended. Not for a thread of the pools.
  void join();

  /// The number of stages.
  std::size_t size() const { return pools_.size(); }

  /// As they are now.
  StageGroups groups() const;

  /// The actors requested for each stage, including those that are still starting or stopping. The
  /// actors of a group are shown at each of its stages.
  std::vector<std::uint32_t> actors() const;
  /// Their number; those of a group count once.
  std::uint64_t actors_wanted() const;

  /// Number of live actors, including those that are stopping.
  std::uint64_t threads() const;

  /// Bytes that the child processes of all actors may take: of those requested, or of those alive
  /// if there are more.
  std::uint64_t children_bytes() const;

  /// One entry per stage, in order.
  std::vector<StageStats> stats() const;

 private:
  class Actor;
  class Beginner;

  StagePool<Split>::Options options_of(std::size_t stage);
  std::size_t end_of_group(std::size_t first) const;
  bool assembles(std::size_t stage) const;
  Status join_to_previous(std::size_t stage);
  void regroup(std::size_t stage, std::uint32_t actors, bool joined);
  std::uint64_t bytes_of_actor(std::size_t first) const;
  Status hand_on(std::size_t from, Split&& split, PoolContext& context);
  void collect(Split&& piece);
  void make_parts(std::vector<Split> parts);
  static std::shared_ptr<SplitAssembly> assembly_of(const Split& split, const SplitCut& cut);
  void offer_to_load(Split&& split);

  const Options options_;
  const StageList& stages_;
  FusedWork fused_;
  const std::vector<std::string> file_names_;
  const TransformContext transform_context_;
  std::vector<std::atomic<std::uint32_t>> wanted_;  // equal within a group
  std::vector<std::atomic<bool>> joined_;           // whether a stage is in the group before it
  const std::size_t decode_;                        // the stage
  PartQueue parts_;
  StageQueues queues_;
  std::atomic<std::uint64_t> deepened_{0};
  std::unique_ptr<StagePool<Split>> begin_;  // null unless the dataset is in a store
  std::vector<std::unique_ptr<StagePool<Split>>> pools_;
};

}  // namespace forebay
