#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/wire/frame.h"

namespace forebay {

/// Some rows of a batch as bytes: labels, dense, lengths, ids, in one buffer. What a rank trains
/// on.
struct BatchSlice {
  std::uint64_t number = 0;  ///< Of the global batch.
  std::uint64_t rows = 0;
  std::uint64_t dense_features = 0;
  std::uint64_t sparse_features = 0;
  std::uint64_t num_ids = 0;
  Frames frames;  ///< One.

  static auto fields(auto& self) {
    return std::tie(self.number, self.rows, self.dense_features, self.sparse_features, self.num_ids,
                    self.frames);
  }
};

/// The ids that a whole batch has in a rank's tables, as bytes: lengths, ids, in one buffer. What a
/// rank may prepare before it trains on its rows of the batch.
struct BatchIds {
  std::uint64_t number = 0;
  std::uint64_t rows = 0;
  std::uint64_t features = 0;  ///< Tables, or parts of some.
  std::uint64_t num_ids = 0;
  Frames frames;  ///< One.

  static auto fields(auto& self) {
    return std::tie(self.number, self.rows, self.features, self.num_ids, self.frames);
  }
};

/// Copies rows [first, end) of `batch`; `pool` outlives what is returned, as below.
std::shared_ptr<const Batch> slice_rows(const Batch& batch, std::size_t first, std::size_t end,
                                        BufferPool& pool);

/// A slice as it travels; shares its memory.
BatchSlice packed_slice(const std::shared_ptr<const Batch>& slice);

/// Copies a batch that has neither labels nor dense features.
std::shared_ptr<const Batch> copy_ids(const Batch& ids, BufferPool& pool);
/// As packed_slice.
BatchIds packed_ids(const std::shared_ptr<const Batch>& ids);

/// What a receiver is ready to take.
struct SliceLimits {
  std::size_t rows = 0;
  std::size_t dense_features = 0;   ///< Exactly,
  std::size_t sparse_features = 0;  ///< likewise.
};

/// The rows as a batch over the frame's memory, or a copy of it where that is not aligned. kCorrupt
/// unless all of it fits together.
Result<std::shared_ptr<const Batch>> unpack_slice(const BatchSlice& slice,
                                                  const SliceLimits& limits, BufferPool& pool);

/// Likewise the ids, of `most_rows` rows and `most_features` features at most.
Result<std::shared_ptr<const Batch>> unpack_ids(const BatchIds& ids, std::size_t most_rows,
                                                std::size_t most_features, BufferPool& pool);

}  // namespace forebay
