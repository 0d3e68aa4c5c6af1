#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "core/data/batch.h"
#include "trainer/embedding/batch_rows.h"

namespace forebay {

/// How large a batch is as it goes to a device.
struct StagedExtents {
  std::int64_t rows = 0;
  std::int64_t dense = 0;   ///< Features.
  std::int64_t sparse = 0;  ///< Likewise.
  std::int64_t ids = 0;
  std::int64_t touched = 0;   ///< Rows of tables that it names.
  std::int64_t fetched = 0;   ///< Those of them whose values go with it,
  std::int64_t row_size = 0;  ///< so many each.
};

/// A batch in one piece of memory, so that one copy takes it to a device. Bags are its lists, by
/// feature, then row.
struct StagedBatch {
  at::Tensor dense;          ///< float [rows, dense]
  at::Tensor labels;         ///< float [rows]
  at::Tensor lengths;        ///< int32 [sparse · rows]: ids of each bag.
  at::Tensor bags;           ///< int32 [ids]: which bag an id is in.
  at::Tensor places;         ///< int32 [ids]: which of the touched rows it names.
  at::Tensor slots;          ///< int32 [touched]: where the rows lie on the device.
  at::Tensor fetched_slots;  ///< int32 [fetched]: where those go whose values come here:
  at::Tensor fetched;        ///< float [fetched, row_size]
};

/// What it takes.
std::int64_t staged_bytes(const StagedExtents& extents);

/// Views of `bytes`, kByte and on whatever device, where it lies or is to lie.
StagedBatch staged_in(const at::Tensor& bytes, const StagedExtents& extents);

/// Extents of a batch whose rows are found; `fetched` and `row_size` are left at 0.
StagedExtents extents_of(const Batch& batch, const BatchRows& rows);

/// Writes all but the slots and what is fetched; `to` lies in the host's memory.
void write_staged(const Batch& batch, const BatchRows& rows, const StagedBatch& to);

/// The memory of a host's tensor.
template <class T>
std::span<T> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace forebay
