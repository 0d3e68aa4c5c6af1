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

/// The inputs of indexing besides the files. All references must outlive the call.
struct IndexingTask {
  const DatasetOptions& options;
  const Format& format;
  Digest settings;               ///< Of the job's settings that decide where rows start.
  Digest agreement;              ///< Of the inputs that decide whether a file fits the format.
  std::uint64_t head_bytes = 0;  ///< Bytes of a text file's start that this check reads.
  SpillFolder* spill = nullptr;  ///< For copies of compressed files; nullptr: no copies.
};

/// Fills in every file's index at the dataset's common slot size, from the cache or by reading the
/// file, and writes new indexes to the cache. Refuses a file whose start does not fit the format.
/// Stops at a failure and returns the first one in file order.
Status index_files(std::vector<IndexedFile>& files, const IndexingTask& task);

/// Returns the slot size that slot_rule gives for all these indexes, and merges every file's blocks
/// to it. A file whose index is coarser stays unchanged.
std::uint64_t settle_slot(std::vector<IndexedFile>& files);

}  // namespace forebay
