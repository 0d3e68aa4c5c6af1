#pragma once

#include <cstddef>

#include <ATen/core/Tensor.h>

#include "core/data/batch.h"

namespace forebay {

/// Rows [first, first + count) of a batch's dense features, [count, dense_features], as a tensor
/// over the batch's own memory, without a copy; the batch must outlive it.
at::Tensor dense_tensor(const Batch& batch, std::size_t first, std::size_t count);

/// All labels, [rows], as a tensor over the batch's memory.
at::Tensor labels_tensor(const Batch& batch);

/// All ids, int64 [num_ids], and all lengths, int32 [sparse_features, rows], over the batch's
/// memory.
at::Tensor ids_tensor(const Batch& batch);
at::Tensor lengths_tensor(const Batch& batch);

}  // namespace forebay
