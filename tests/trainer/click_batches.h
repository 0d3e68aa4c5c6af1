#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/data/batch.h"
#include "core/data/schema.h"

namespace forebay::test {

/// Batches of a known rule: a click is likelier the larger the first dense value is, and the more
/// ids of the first sparse feature are even. The same seed gives the same batches.
class ClickBatches final : public BatchSource {
 public:
  struct Options {
    std::size_t rows = 256;
    std::size_t dense = 4;
    std::size_t sparse = 3;
    std::int64_t ids = 50;           ///< Ids are in [0, ids).
    std::size_t most_per_field = 1;  ///< 1: one id in every field; above: 0 to that many.
    std::uint64_t batches = 10;
    std::uint64_t first = 0;  ///< The number of the first batch, as after a resume.
    std::uint64_t seed = 1;
    bool weights = false;  ///< Rows weigh 0, 0.75, 1.5, 2.25, 3, 0, …

    /// The schema of the batches; ids have no bound to which a table could be cut.
    Schema schema() const {
      return {.dense = std::vector<std::string>(dense, "d"),
              .sparse = std::vector<SparseFeature>(sparse, {"s", 0}),
              .weight = weights};
    }
  };

  ClickBatches(BufferPool& pool, Options options) : pool_(pool), options_(options) {
    next_ = options.first;
  }

  Result<std::shared_ptr<const Batch>> next() override {
    if (before_next) before_next();
    if (next_ == options_.batches) return std::shared_ptr<const Batch>();
    return make(next_++);
  }

  std::shared_ptr<const Batch> make(std::uint64_t number) const {
    Random random(mix64(options_.seed, number));
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < options_.sparse * options_.rows; ++i) {
      const std::uint32_t length =
          options_.most_per_field == 1 ? 1 : random.below(options_.most_per_field + 1);
      lengths.push_back(static_cast<std::int32_t>(length));
      for (std::uint32_t id = 0; id < length; ++id) {
        ids.push_back(random.below(static_cast<std::uint64_t>(options_.ids)));
      }
    }
    auto batch = allocate(number, ids.size());
    std::copy(lengths.begin(), lengths.end(), batch->lengths);
    std::copy(ids.begin(), ids.end(), batch->ids);
    for (std::size_t i = 0; i < options_.rows * options_.dense; ++i) {
      batch->dense[i] = static_cast<float>(2 * random.uniform() - 1);
    }
    std::size_t id = 0;
    for (std::size_t row = 0; row < options_.rows; ++row) {
      double logit = options_.dense > 0 ? 2 * batch->dense[row * options_.dense] : 0;
      const std::int32_t length = options_.sparse > 0 ? lengths[row] : 0;
      for (std::int32_t i = 0; i < length; ++i) logit += ids[id++] % 2 == 0 ? 1.5 : -1.5;
      if (options_.weights) batch->weights[row] = 0.75F * static_cast<float>(row % 5);
      batch->labels[row] = random.uniform() < 1 / (1 + std::exp(-logit)) ? 1.0f : 0.0f;
    }
    return batch;
  }

  std::function<void()> before_next;  ///< Called for each batch that is pulled; may be empty.

 private:
  std::shared_ptr<Batch> allocate(std::uint64_t number, std::size_t num_ids) const {
    auto batch = std::make_shared<Batch>();
    const std::size_t rows = options_.rows;
    const std::size_t fields = options_.sparse * rows;
    batch->storage = pool_.take(num_ids * 8 + (rows * (2 + options_.dense) + fields) * 4);
    batch->number = number;
    batch->rows = rows;
    batch->dense_features = options_.dense;
    batch->sparse_features = options_.sparse;
    batch->num_ids = num_ids;
    batch->ids = batch->storage.as<std::int64_t>();
    batch->labels = reinterpret_cast<float*>(batch->ids + num_ids);
    batch->dense = batch->labels + rows;
    batch->lengths = reinterpret_cast<std::int32_t*>(batch->dense + rows * options_.dense);
    if (options_.weights) {
      batch->weights = reinterpret_cast<float*>(batch->lengths + fields);
    }
    batch->after.batches = number + 1;
    batch->after.rows = (number + 1) * rows;
    return batch;
  }

  BufferPool& pool_;
  const Options options_;
  std::uint64_t next_ = 0;
};

}  // namespace forebay::test
