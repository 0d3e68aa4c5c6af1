#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/data/batch.h"
#include "trainer/embedding/batch_rows.h"

namespace forebay {

/// The extents of a batch on its way to a device.
struct StagedExtents {
  std::int64_t rows = 0;
  std::int64_t dense = 0;   ///< Features.
  std::int64_t sparse = 0;  ///< Features.
  std::int64_t ids = 0;
  std::int64_t touched = 0;   ///< Rows of tables that the batch names.
  std::int64_t fetched = 0;   ///< Rows whose values are sent with it.
  std::int64_t row_size = 0;  ///< Values of each such row.
};

/// A batch in one contiguous memory, so that one copy takes it to a device. Bags are its lists, by
/// feature, then row.
struct StagedBatch {
  at::Tensor dense;          ///< float [rows, dense]
  at::Tensor labels;         ///< float [rows]
  at::Tensor lengths;        ///< int32 [sparse · rows]: ids of each bag.
  at::Tensor bags;           ///< int32 [ids]: the bag of an id.
  at::Tensor places;         ///< int32 [ids]: the index of its row among the touched rows.
  at::Tensor slots;          ///< int32 [touched]: slots of the rows on the device.
  at::Tensor fetched_slots;  ///< int32 [fetched]: destination slots of the values in `fetched`.
  at::Tensor fetched;        ///< float [fetched, row_size]
};

/// Bytes of a batch with these extents.
std::int64_t staged_bytes(const StagedExtents& extents);

/// Returns views of `bytes`, kByte on any device, where the batch is or will be.
StagedBatch staged_in(const at::Tensor& bytes, const StagedExtents& extents);

/// Extents of a batch whose rows are known; leaves `fetched` and `row_size` at 0.
StagedExtents extents_of(const Batch& batch, const BatchRows& rows);

/// Writes all but the slots and the fetched values; `to` must be in host memory.
void write_staged(const Batch& batch, const BatchRows& rows, const StagedBatch& to);

}  // namespace forebay
