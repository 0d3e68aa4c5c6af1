#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/wire/frame.h"

namespace forebay {

/// The sparse features whose lists the rows of a slice share, and how many lists they share.
struct SliceGroup {
  std::vector<std::uint64_t> features;
  std::uint64_t unique = 0;
  static auto fields(auto& self) { return std::tie(self.features, self.unique); }
};

/// Some rows of a batch as bytes: labels, dense, lengths, ids, weights, and of each group the list
/// of each row and the first row of each list, in one buffer. A rank trains on such a slice; models
/// do not see extra columns.
struct BatchSlice {
  static constexpr std::string_view kTag = "ranks.batch_slice/1";
  std::uint64_t number = 0;  ///< Number of the global batch.
  std::uint64_t rows = 0;
  std::uint64_t dense_features = 0;
  std::uint64_t sparse_features = 0;
  std::uint64_t num_ids = 0;
  Frames frames;  ///< Exactly one.
  bool weighted = false;
  std::vector<SliceGroup> groups = {};

  static auto fields(auto& self) {
    return std::tie(self.number, self.rows, self.dense_features, self.sparse_features, self.num_ids,
                    self.frames, self.weighted, self.groups);
  }
};

/// The ids of a whole batch that are in a rank's tables, as bytes: lengths, ids, and the groups'
/// rows and lists, in one buffer. The features are tables or parts of tables. A rank may prefetch
/// the ids before it trains on its rows of the batch.
struct BatchIds : BatchSlice {
  static constexpr std::string_view kTag = "ranks.batch_ids/1";
  static auto fields(auto& self) {
    return std::tie(self.number, self.rows, self.sparse_features, self.num_ids, self.frames,
                    self.groups);
  }
};

/// Copies rows [first, end) of `batch`; lists that they share stay shared (Batch::lists_once).
/// `pool` outlives the result, as for the functions below.
std::shared_ptr<const Batch> slice_rows(const Batch& batch, std::size_t first, std::size_t end,
                                        BufferPool& pool);

/// Returns the message for a slice; it shares the slice's memory.
BatchSlice packed_slice(const std::shared_ptr<const Batch>& slice);

/// Copies a batch that has neither labels nor dense features.
std::shared_ptr<const Batch> copy_ids(const Batch& ids, BufferPool& pool);
/// Returns the message for the ids; it shares their memory.
inline BatchIds packed_ids(const std::shared_ptr<const Batch>& ids) { return {packed_slice(ids)}; }

/// Limits on what a receiver accepts.
struct SliceLimits {
  std::size_t rows = 0;
  std::size_t dense_features = 0;   ///< The exact number.
  std::size_t sparse_features = 0;  ///< The exact number.
  bool weighted = false;            ///< Whether rows have weights.
};

/// Returns the rows as a batch that uses the frame's memory, or a copy of it if the frame is not
/// aligned. kCorrupt: counts, sizes or the groups' numbers do not match.
Result<std::shared_ptr<const Batch>> unpack_slice(const BatchSlice& slice,
                                                  const SliceLimits& limits, BufferPool& pool);

/// Does the same for ids of at most `most_rows` rows and `most_features` features.
Result<std::shared_ptr<const Batch>> unpack_ids(const BatchIds& ids, std::size_t most_rows,
                                                std::size_t most_features, BufferPool& pool);

}  // namespace forebay
