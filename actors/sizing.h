#pragma once

#include <cstdint>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/format.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "core/data/most_ids.h"

namespace forebay {

/// Memory that grows beside the buffers: heap, page tables and library pages that are touched
/// later.
inline constexpr std::uint64_t kMemorySlack = std::uint64_t{24} << 20;
/// Touched stack and allocator arena of one actor's thread.
inline constexpr std::uint64_t kThreadBytes = std::uint64_t{256} << 10;
/// Actors beside those of an allocation: the batch actor and a monitoring actor.
inline constexpr std::uint64_t kOtherActors = 2;

/// The largest sizes of a job's splits and batches, in bytes.
struct MemorySizes {
  /// A split of mean size, or if splits are made in parts a part, at the stage that takes most.
  std::uint64_t usual_split = 0;
  std::uint64_t largest_split = 0;  ///< The largest one, at that stage.
  /// Of the largest split that is made in parts: its pieces, loaded and decoded, beside the parts
  /// that are out. 0 if splits are made in one message.
  std::uint64_t held = 0;
  std::uint64_t splits_held = 2;  ///< How many of them are wanted in the window.
  std::uint64_t rows = 0;         ///< Of a split, or part, of mean size.
  std::uint64_t batch = 0;        ///< A finished batch.
  std::uint64_t cutting = 0;      ///< The batch being cut and the splits whose rows wait for it.
  /// Of each stage: the child processes of one actor. Empty: no stage has any.
  std::vector<std::uint64_t> children = {};
};

/// The shares that are wanted, and the bytes still in use under earlier shares.
struct MemoryDemand {
  std::uint64_t actors = 0;  ///< Requested, over all stages.
  std::uint64_t stages = 0;
  std::uint64_t elsewhere = 0;       ///< Splits that other nodes may hold.
  std::uint64_t threads = 0;         ///< Alive, including those that are stopping.
  std::uint64_t children = 0;        ///< Bytes of the actors' child processes.
  std::uint64_t prefetch = 0;        ///< Wanted.
  std::uint64_t window_used = 0;     ///< Bytes of splits between issue and batch.
  std::uint64_t window_waiting = 0;  ///< Of those, of made splits that wait for a lower one.
  std::uint64_t deepened = 0;        ///< Splits that may wait between stages beyond the usual ones.
  std::uint64_t prefetch_used = 0;   ///< Bytes of waiting batches.
};

/// How the memory is divided at this moment. All in bytes.
struct MemoryShares {
  std::uint64_t buffers = 0;   ///< Limit of the whole buffer pool.
  std::uint64_t window = 0;    ///< Splits between their issue and the reorder buffer.
  std::uint64_t parts = 0;     ///< The same of parts, if splits are made in parts.
  std::uint64_t prefetch = 0;  ///< Finished batches that wait.
  /// What `window` and `parts` together would be with any amount of memory.
  std::uint64_t window_wanted = 0;
};

/// Divides `room`, in bytes: reserves a split per actor and some more, and the prefetch that is
/// wanted. If that does not fit, reduces prefetch first, then the window, but never below the least
/// that a pipeline can run with. What is left beside both goes to the window, as far as splits wait
/// in it for a lower one, or more than usual may wait between stages. Bytes still in use under
/// earlier shares count until they are returned, so that no share grows into them.
MemoryShares share_memory(std::uint64_t room, const MemorySizes& sizes, const MemoryDemand& demand);

/// Memory of the threads of `actors` actors and of the kOtherActors.
std::uint64_t threads_bytes(std::uint64_t actors);

/// The threads that copy a large batch together, the batch actor's included, on a machine with so
/// many CPUs. One copies some 5 M rows/s of Criteo's width, more than few CPUs decode.
std::size_t batch_threads(int cpus);

/// Memory of the child processes of so many actors of each stage; nothing if `actors` is empty.
std::uint64_t children_bytes(const MemorySizes& sizes, const std::vector<std::uint32_t>& actors);
/// The same with one actor a stage.
std::uint64_t least_children(const MemorySizes& sizes);

/// The window that keeps `actors` actors busy: one split each, one more per stage and two ready
/// splits; the same of parts.
std::uint64_t window_for(std::uint64_t actors, std::uint64_t stages, const MemorySizes& sizes);

/// The least memory with which a pipeline of so many threads, and one actor's child processes in
/// each stage, can run.
std::uint64_t least_room(std::uint64_t threads, const MemorySizes& sizes);

/// Computes the largest sizes of a job's splits and batches; pure functions of the job.
class Sizing {
 public:
  Sizing(const Dataset& dataset, const TransformPlan& plan, const OrderSpec& order);

  /// The most bytes that a split of these blocks holds at any stage; if it is made in parts,
  /// without those of its parts.
  std::uint64_t split_cost(const std::vector<BlockRef>& blocks) const;
  /// `largest_split` bounds split_cost over all splits of all epochs; `usual_split` is the cost of
  /// a split of mean size.
  const MemorySizes& sizes() const { return sizes_; }
  /// The most ids in a batch: where rows have lists, those of so many rows as dense as the densest
  /// split, and an eighth more, since the rows of a batch may be longer than those of their split;
  /// of text, of which no metadata count ids, as many as the rows' bytes usually hold. A batch of
  /// single long rows in a dataset of short ones may have more.
  const MostIds& most_ids() const { return most_ids_; }

 private:
  std::uint64_t stored_once(const Extent& extent) const;
  std::uint64_t cost(const Extent& extent) const;
  std::uint64_t held(const Extent& extent) const;
  MostIds ids_of(std::uint64_t rows, const Extent& all, const std::vector<Extent>& splits) const;
  std::size_t parts_of(const std::vector<BlockRef>& blocks) const;

  const Format& format_;
  const TransformPlan& plan_;
  const bool in_grains_;
  const bool permutes_rows_;
  MemorySizes sizes_;
  MostIds most_ids_;
};

/// The memory of a run. All in bytes.
struct MemoryPlan {
  std::uint64_t room = 0;      ///< For buffers, and the threads and processes of actors.
  std::uint64_t prefetch = 0;  ///< Wanted: finished batches that may wait.
};

/// Subtracts from `spec.memory_bytes` the memory in use: `resident` (libraries, index, model) and
/// slack.
///
/// Returns kOverloaded, with the bytes needed, if not even one split and the batches that must
/// exist at the same time fit.
Result<MemoryPlan> plan_memory(const PipelineSpec& spec, const Sizing& sizing,
                               std::uint64_t resident);

}  // namespace forebay
