#include "trainer/torch/batch_tensors.h"

#include <cstdint>

#include <ATen/ops/from_blob.h>

namespace forebay {
namespace {

std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

}  // namespace

at::Tensor dense_tensor(const Batch& batch, std::size_t first, std::size_t count) {
  return at::from_blob(batch.dense + first * batch.dense_features,
                       {extent(count), extent(batch.dense_features)}, at::kFloat);
}

at::Tensor labels_tensor(const Batch& batch) {
  return at::from_blob(batch.labels, {extent(batch.rows)}, at::kFloat);
}

at::Tensor ids_tensor(const Batch& batch) {
  return at::from_blob(batch.ids, {extent(batch.num_ids)}, at::kLong);
}

at::Tensor lengths_tensor(const Batch& batch) {
  return at::from_blob(batch.lengths, {extent(batch.sparse_features), extent(batch.rows)},
                       at::kInt);
}

}  // namespace forebay
