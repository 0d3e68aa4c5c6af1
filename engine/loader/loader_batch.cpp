// The views of a batch that programs get.

#include <numeric>
#include <span>
#include <vector>

#include <forebay/loader.h>

#include "core/data/batch.h"

namespace forebay {

std::uint64_t LoaderBatch::index() const { return batch_->number; }
std::size_t LoaderBatch::rows() const { return batch_->rows; }
std::span<const float> LoaderBatch::labels() const { return {batch_->labels, batch_->rows}; }

std::span<const float> LoaderBatch::dense() const {
  return {batch_->dense, batch_->rows * batch_->dense_features};
}

std::span<const std::int32_t> LoaderBatch::lengths() const {
  return {batch_->lengths, batch_->rows * batch_->sparse_features};
}

std::span<const std::int64_t> LoaderBatch::values() const { return {batch_->ids, batch_->num_ids}; }

std::span<const std::byte> LoaderBatch::memory() const {
  return std::as_bytes(std::span(batch_->storage.data(), batch_->storage.size()));
}

LoaderBatch::Column LoaderBatch::sparse(std::size_t column) const {
  const auto all = lengths();
  const auto sum = [](std::span<const std::int32_t> some) {
    return std::accumulate(some.begin(), some.end(), std::size_t{0});
  };
  const auto own = all.subspan(column * rows(), rows());
  return {.lengths = own, .values = values().subspan(sum(all.first(column * rows())), sum(own))};
}

std::size_t LoaderBatch::groups() const { return batch_->repeats.size(); }

LoaderBatch::Repeats LoaderBatch::repeats(std::size_t group) const {
  const BatchRepeats& repeats = batch_->repeats[group];
  return {.dense = repeats.features.dense,
          .sparse = repeats.features.sparse,
          .inverse = {repeats.numbers, batch_->rows},
          .first_rows = {repeats.first_rows, repeats.unique}};
}

LoaderBatch::UniqueLists LoaderBatch::unique_sparse(std::size_t group, std::size_t column) const {
  const Column all = sparse(column);
  UniqueLists unique;
  std::size_t row = 0;
  std::size_t id = 0;
  for (const std::uint32_t first : repeats(group).first_rows) {
    for (; row < first; ++row) id += static_cast<std::size_t>(all.lengths[row]);
    const auto list = all.values.subspan(id, static_cast<std::size_t>(all.lengths[first]));
    unique.lengths.push_back(all.lengths[first]);
    unique.values.insert(unique.values.end(), list.begin(), list.end());
  }
  return unique;
}

std::vector<float> LoaderBatch::unique_dense(std::size_t group, std::size_t column) const {
  std::vector<float> unique;
  for (const std::uint32_t first : repeats(group).first_rows) {
    unique.push_back(batch_->dense[first * batch_->dense_features + column]);
  }
  return unique;
}

std::span<const float> LoaderBatch::weights() const {
  return {batch_->weights, batch_->weights == nullptr ? 0 : batch_->rows};
}

std::span<const std::int64_t> LoaderBatch::extra(std::size_t column) const {
  return {batch_->extras + column * rows(), rows()};
}

std::span<const double> LoaderBatch::extra_floats(std::size_t column) const {
  // The batcher copied the bits of doubles here, so doubles are what the memory holds.
  return {reinterpret_cast<const double*>(batch_->extras + column * rows()), rows()};
}

}  // namespace forebay
