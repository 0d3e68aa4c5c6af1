#include "trainer/torch/embedding_tables.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/check.h"
#include "core/base/random.h"
#include "trainer/torch/clones.h"

namespace forebay {
namespace {

// Rows are fetched this many bags before they are needed: a miss costs about as much as these.
constexpr std::size_t kAhead = 12;

/// Calls `work` with the width as a constant where it is a usual one, so that loops unroll.
template <class Work>
FOREBAY_INLINE void with_width(std::size_t dim, const Work& work) {
  switch (dim) {
    case 16:
      return work(std::size_t{16});
    case 32:
      return work(std::size_t{32});
    case 64:
      return work(std::size_t{64});
    default:
      return work(dim);
  }
}

FOREBAY_INLINE void prefetch(const float* row, std::size_t dim) {
  for (std::size_t i = 0; i < dim; i += 16) __builtin_prefetch(row + i);
}

/// Where the vectors of a table are and which of them are wanted.
struct Lookup {
  const float* table;
  const std::int32_t* rows;
  std::size_t num_rows;
  std::size_t dim;

  const float* at(std::size_t id) const { return table + static_cast<std::size_t>(rows[id]) * dim; }
};

FOREBAY_CLONES void pool_bags(const Lookup& lookup, std::span<const std::int32_t> lengths,
                              float* out, std::size_t stride) {
  with_width(lookup.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    std::size_t id = 0;
    for (std::size_t bag = 0; bag < lengths.size(); ++bag, out += stride) {
      for (std::size_t i = 0; i < dim; ++i) out[i] = 0;
      for (std::int32_t left = lengths[bag]; left > 0; --left, ++id) {
        if (id + kAhead < lookup.num_rows) prefetch(lookup.at(id + kAhead), dim);
        const float* row = lookup.table + static_cast<std::size_t>(lookup.rows[id]) * dim;
        for (std::size_t i = 0; i < dim; ++i) out[i] += row[i];
      }
    }
  });
}

/// The gradients of a batch's bags for one table.
struct BagGradients {
  const std::int32_t* lengths;
  const float* vectors;
  std::size_t bags;
};

/// Adds each bag's gradient to the sums of the rows in it; returns how many rows there are.
FOREBAY_CLONES std::size_t add_by_row(const Lookup& lookup, const BagGradients& bags,
                                      std::int32_t* slot_of_row, std::int32_t* touched,
                                      float* sums) {
  std::size_t count = 0;
  with_width(lookup.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    std::size_t id = 0;
    const float* gradient = bags.vectors;
    for (std::size_t bag = 0; bag < bags.bags; ++bag, gradient += dim) {
      for (std::int32_t left = bags.lengths[bag]; left > 0; --left, ++id) {
        if (id + kAhead < lookup.num_rows)
          __builtin_prefetch(slot_of_row + lookup.rows[id + kAhead]);
        const std::int32_t row = lookup.rows[id];
        std::int32_t& slot = slot_of_row[row];
        if (slot == 0) {
          touched[count] = row;
          slot = static_cast<std::int32_t>(++count);
          float* sum = sums + (count - 1) * dim;
          for (std::size_t i = 0; i < dim; ++i) sum[i] = gradient[i];
        } else {
          float* sum = sums + (static_cast<std::size_t>(slot) - 1) * dim;
          for (std::size_t i = 0; i < dim; ++i) sum[i] += gradient[i];
        }
      }
    }
  });
  return count;
}

/// One table's weights and optimizer state; `squares` is nullptr with SGD.
struct Rows {
  float* weights;
  float* squares;
  std::size_t dim;
};

FOREBAY_CLONES void update_rows(const UpdateRule& rule, const Rows& table,
                                std::span<const std::int32_t> touched, const float* sums) {
  with_width(table.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (i + kAhead < touched.size()) {
        const std::size_t ahead = static_cast<std::size_t>(touched[i + kAhead]) * dim;
        prefetch(table.weights + ahead, dim);
        if (table.squares != nullptr) prefetch(table.squares + ahead, dim);
      }
      const std::size_t row = static_cast<std::size_t>(touched[i]) * dim;
      float* squares = table.squares == nullptr ? nullptr : table.squares + row;
      update_weights(rule, sums + i * dim, table.weights + row, squares, dim);
    }
  });
}

}  // namespace

void initialise_table(std::span<float> values, std::int64_t rows, std::uint64_t seed,
                      std::size_t feature) {
  const double bound = 1 / std::sqrt(static_cast<double>(rows));
  Random random(mix64(seed, feature));
  for (float& value : values) value = static_cast<float>((2 * random.uniform() - 1) * bound);
}

EmbeddingTables::EmbeddingTables(const ModelShape& shape, const UpdateRule& rule,
                                 std::uint64_t seed)
    : dim_(static_cast<std::size_t>(shape.embedding_dim)), rule_(rule) {
  for (std::size_t feature = 0; feature < shape.table_rows.size(); ++feature) {
    Table table;
    table.rows = shape.table_rows[feature];
    const std::size_t values = static_cast<std::size_t>(table.rows) * dim_;
    table.weights = Pages(values * sizeof(float));
    if (rule.optimizer == TrainerSpec::Optimizer::kAdagrad) {
      table.squares = Pages(values * sizeof(float));
    }
    initialise_table({table.weights.as<float>(), values}, table.rows, seed, feature);
    tables_.push_back(std::move(table));
  }
}

void EmbeddingTables::begin_layout(const Batch& batch, std::size_t share_rows,
                                   IdLayout& layout) const {
  FOREBAY_CHECK(batch.sparse_features == features());
  layout.shares = (batch.rows + share_rows - 1) / share_rows;
  layout.table_rows.resize(batch.num_ids);
  layout.share_starts.resize(features() * layout.shares);
  layout.first_id.assign(1, 0);
  for (std::size_t feature = 0; feature < features(); ++feature) {
    const std::int32_t* lengths = batch.lengths + feature * batch.rows;
    std::size_t ids = 0;
    for (std::size_t row = 0; row < batch.rows; ++row)
      ids += static_cast<std::size_t>(lengths[row]);
    layout.first_id.push_back(layout.first_id.back() + ids);
  }
  FOREBAY_CHECK(layout.first_id.back() == batch.num_ids);
}

void EmbeddingTables::lay_out(const Batch& batch, std::size_t feature, std::size_t share_rows,
                              IdLayout& layout) const {
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  std::size_t id = layout.first_id[feature];
  for (std::size_t row = 0; row < batch.rows; ++row) {
    if (row % share_rows == 0) {
      layout.share_starts[feature * layout.shares + row / share_rows] = id;
    }
    id += static_cast<std::size_t>(lengths[row]);
  }
  const std::int64_t rows = tables_[feature].rows;
  const bool power_of_two = (rows & (rows - 1)) == 0;
  for (id = layout.first_id[feature]; id < layout.first_id[feature + 1]; ++id) {
    std::int64_t row = batch.ids[id];
    if (power_of_two) {
      row &= rows - 1;
    } else if (row < 0 || row >= rows) {
      row %= rows;
      if (row < 0) row += rows;
    }
    layout.table_rows[id] = static_cast<std::int32_t>(row);
  }
}

std::size_t EmbeddingTables::pool(std::size_t feature, std::span<const std::int32_t> lengths,
                                  const std::int32_t* rows, float* out, std::size_t stride) const {
  std::size_t ids = 0;
  for (std::int32_t length : lengths) ids += static_cast<std::size_t>(length);
  pool_bags({tables_[feature].weights.as<float>(), rows, ids, dim_}, lengths, out, stride);
  return ids;
}

EmbeddingTables::Scratch EmbeddingTables::make_scratch() const {
  std::int64_t largest = 0;
  for (const Table& table : tables_) largest = std::max(largest, table.rows);
  Scratch scratch;
  scratch.slot_of_row = Pages(static_cast<std::size_t>(largest) * sizeof(std::int32_t));
  return scratch;
}

void EmbeddingTables::update(std::size_t feature, const Batch& batch, const IdLayout& layout,
                             const float* gradients, Scratch& scratch) {
  Table& table = tables_[feature];
  const std::size_t first = layout.first_id[feature];
  const std::size_t ids = layout.first_id[feature + 1] - first;
  const std::size_t most = std::min(ids, static_cast<std::size_t>(table.rows));
  if (scratch.touched.size() < most) {
    scratch.touched.resize(most);
    scratch.sums.resize(most * dim_);
  }
  const Lookup lookup{table.weights.as<float>(), layout.table_rows.data() + first, ids, dim_};
  const BagGradients bags{batch.lengths + feature * batch.rows, gradients, batch.rows};
  auto* slots = scratch.slot_of_row.as<std::int32_t>();
  const std::size_t count =
      add_by_row(lookup, bags, slots, scratch.touched.data(), scratch.sums.data());
  const std::span<const std::int32_t> touched(scratch.touched.data(), count);
  for (std::int32_t row : touched) slots[row] = 0;
  update_rows(rule_, {table.weights.as<float>(), table.squares.as<float>(), dim_}, touched,
              scratch.sums.data());
}

void EmbeddingTables::append_state(std::vector<StateTensor>& tensors) const {
  for (std::size_t feature = 0; feature < features(); ++feature) {
    const Table& table = tables_[feature];
    StateTensor tensor;
    tensor.name = "table." + std::to_string(feature);
    tensor.shape = {table.rows, static_cast<std::int64_t>(dim_)};
    const std::size_t values = static_cast<std::size_t>(table.rows) * dim_;
    tensor.values = {table.weights.as<float>(), values};
    tensors.push_back(tensor);
    if (table.squares.size() == 0) continue;
    tensor.part = StateTensor::Part::kOptimizer;
    tensor.values = {table.squares.as<float>(), values};
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace forebay
