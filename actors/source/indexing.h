#pragma once

#include <cstdint>
#include <vector>

#include "actors/format/format.h"
#include "actors/source/dataset.h"
#include "actors/source/indexed_dataset.h"
#include "actors/source/spill_folder.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// What indexing needs to know beside the files; all of it outlives the call.
struct IndexingTask {
  const DatasetOptions& options;
  const Format& format;
  Digest settings;               ///< Of what in the job decides where rows start.
  Digest agreement;              ///< Of all that decides whether a file's start fits the format.
  std::uint64_t head_bytes = 0;  ///< How much of its start that takes.
  SpillFolder* spill = nullptr;  ///< Where packed files are copied while they are read, if at all.
};

/// Fills in every file's index at the dataset's one slot size, from the cache or by reading the
/// file, and puts what it read into the cache. Refuses a file whose start does not fit the format.
/// The first failure, in file order, ends it.
Status index_files(std::vector<IndexedFile>& files, const IndexingTask& task);

/// The slot that slot_rule gives for all these indexes, and every file's blocks brought to it; a
/// file whose index is coarser stays so.
std::uint64_t settle_slot(std::vector<IndexedFile>& files);

}  // namespace forebay
