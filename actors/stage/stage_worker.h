#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "actors/stage/split.h"
#include "actors/stage_list.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

class BegunRead;

/// Loads the blocks of splits from a dataset's files, whatever their format.
///
/// Owns one load actor's open files, at most kMostOpen of them; belongs to that actor's thread.
/// Returns an error that names the file if the file cannot be read or has changed since it was
/// indexed (BlockSource::load).
class SplitReader {
 public:
  static constexpr std::size_t kMostOpen = 64;

  SplitReader(const Dataset& dataset, BufferPool& pool) : dataset_(dataset), pool_(pool) {}

  Result<RawSplit> read(std::vector<BlockRef> blocks);

  /// Begins to read blocks that are in a store. Returns null if one of them is not, or has to be
  /// loaded at once. The dataset and the pool outlive the result.
  Result<std::shared_ptr<BegunRead>> begin(const std::vector<BlockRef>& blocks);

 private:
  Status prepare(std::span<const BlockRef> blocks);
  Result<std::shared_ptr<BlockSource>> source(std::uint32_t file);

  const Dataset& dataset_;
  BufferPool& pool_;
  std::map<std::uint32_t, std::shared_ptr<BlockSource>> open_;
};

/// Blocks on their way from a store. Belongs to one thread at a time; the destructor gives them up.
class BegunRead {
 public:
  explicit BegunRead(Buffer bytes) { raw_.bytes = std::move(bytes); }

  /// Begins one more block, behind those before it. Returns false where it is only loaded at once.
  bool add(const BlockRef& block, const std::shared_ptr<BlockSource>& source);

  /// Waits for all blocks.
  Result<RawSplit> finish();

 private:
  struct Block {
    std::shared_ptr<BlockSource> source;  // outlives `pending`
    std::unique_ptr<PendingBlock> pending;
    std::size_t at = 0;
  };

  RawSplit raw_;
  std::size_t reserved_ = 0;
  std::vector<Block> pending_;
};

/// Describes a split in which the decoder found other rows than the index, although the content of
/// its blocks is right. kCorrupt.
Error miscounted_split(const Dataset& dataset, const BadRow& where);

/// Describes bytes that the format of their file does not allow (Decoded::damaged). kCorrupt.
Error damaged_block(const Dataset& dataset, const BadRow& where);

/// Describes a split of which other rows remain (are neither damaged nor left out) than were
/// counted for the ranks of a training. kCorrupt.
Error recounted_split(const Dataset& dataset, std::uint64_t number, std::uint64_t counted,
                      std::uint64_t found);

/// What the workers of all stages share: the job, and the memory of splits. The objects outlive the
/// workers.
struct StageInputs {
  const Dataset& dataset;
  const TransformPlan& plan;
  DecodeOptions decode;
  std::uint64_t seed = 0;     ///< `order.seed`
  bool permutes_rows = true;  ///< Whether shuffle changes the order of a split's rows.
  BufferPool& buffers;
};

/// One actor's part in a stage: a pure function of a split. It knows nothing of pools, queues and
/// other actors, keeps its open files and scratch memory, and belongs to the actor's thread.
class StageWorker {
 public:
  /// All three outlive the worker.
  StageWorker(const StageInfo& stage, const StageInputs& inputs, const TransformContext& transform)
      : stage_(stage),
        inputs_(inputs),
        transform_(transform),
        reader_(inputs.dataset, inputs.buffers) {}

  /// Replaces the split's content by the stage's result. A user's function that waits gives up when
  /// `cancelled` (may be empty) returns true.
  Status run(Split& split, std::function<bool()> cancelled = {});

 private:
  Status load(Split& split);
  Status decode(Split& split) const;
  DecodeOptions options_for(const Split& split) const;
  Status finish_piece(Split& piece, bool is_dealt) const;
  void shuffle(Split& split) const;
  Status transform(Split& split, std::function<bool()> cancelled);

  const StageInfo& stage_;
  const StageInputs& inputs_;
  const TransformContext& transform_;
  SplitReader reader_;  // for load
  StepStates state_;    // for transform
};

}  // namespace forebay
