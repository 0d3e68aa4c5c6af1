#include "trainer/torch/kernels/embedding_tables.h"

#include "trainer/torch/kernels/clones.h"
#include "trainer/torch/kernels/optimizer.h"

namespace forebay {
namespace {

// Rows are prefetched this many bags ahead: a cache miss costs about as much as these bags.
constexpr std::size_t kAhead = 12;

/// Calls `work` with the width as a constant if it is a common one, so that loops unroll.
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

/// The location of the vectors of a feature's ids: id -> index among its rows -> slot.
struct Lookup {
  const float* weights;
  const std::int32_t* slots;
  const std::int32_t* place;
  std::size_t num_ids;
  std::size_t dim;
  bool mean;

  const float* at(std::size_t id) const {
    return weights + static_cast<std::size_t>(slots[place[id]]) * dim;
  }
};

FOREBAY_CLONES void pool_bags(const Lookup& lookup, std::span<const std::int32_t> lengths,
                              float* out, std::size_t stride) {
  with_width(lookup.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    std::size_t id = 0;
    for (std::size_t bag = 0; bag < lengths.size(); ++bag, out += stride) {
      for (std::size_t i = 0; i < dim; ++i) out[i] = 0;
      for (std::int32_t left = lengths[bag]; left > 0; --left, ++id) {
        if (id + kAhead < lookup.num_ids) prefetch(lookup.at(id + kAhead), dim);
        const float* row =
            lookup.weights + static_cast<std::size_t>(lookup.slots[lookup.place[id]]) * dim;
        for (std::size_t i = 0; i < dim; ++i) out[i] += row[i];
      }
      if (lookup.mean && lengths[bag] > 1) {
        const float share = 1 / static_cast<float>(lengths[bag]);
        for (std::size_t i = 0; i < dim; ++i) out[i] *= share;
      }
    }
  });
}

/// The gradients of a batch's bags for one table.
struct BagGradients {
  const std::int32_t* lengths;
  const float* vectors;
  std::size_t bags;
  std::size_t dim;
  bool mean;
};

/// A position in a table's ids, and the number of its rows seen so far.
struct AddedUp {
  std::size_t id = 0;
  std::int32_t seen = 0;
};

/// Adds each bag's gradient to the sums of its rows. Places are numbered in the order of first use.
FOREBAY_CLONES void add_by_row(const BagGradients& bags, const std::int32_t* place, float* sums,
                               AddedUp& done) {
  with_width(bags.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    auto [id, seen] = done;
    const float* gradient = bags.vectors;
    for (std::size_t bag = 0; bag < bags.bags; ++bag, gradient += dim) {
      const std::int32_t length = bags.lengths[bag];
      const float share = bags.mean && length > 1 ? 1 / static_cast<float>(length) : 1;
      for (std::int32_t left = length; left > 0; --left, ++id) {
        float* sum = sums + static_cast<std::size_t>(place[id]) * dim;
        if (place[id] == seen) {
          ++seen;
          for (std::size_t i = 0; i < dim; ++i) sum[i] = gradient[i] * share;
        } else {
          for (std::size_t i = 0; i < dim; ++i) sum[i] += gradient[i] * share;
        }
      }
    }
    done = {id, seen};
  });
}

/// The weights and optimizer state of one arena.
struct Rows {
  float* weights;
  float* state;
  std::size_t dim;
};

FOREBAY_CLONES bool update_rows(const UpdateRule& rule, const Rows& table,
                                std::span<const std::int32_t> slots, const float* sums) {
  FiniteValues finite;
  with_width(table.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (i + kAhead < slots.size()) {
        const std::size_t ahead = static_cast<std::size_t>(slots[i + kAhead]) * dim;
        prefetch(table.weights + ahead, dim);
        if (table.state != nullptr) prefetch(table.state + ahead, dim);
      }
      const std::size_t row = static_cast<std::size_t>(slots[i]) * dim;
      float* state = table.state == nullptr ? nullptr : table.state + row;
      update_weights(rule, sums + i * dim, table.weights + row, state, dim, finite);
    }
  });
  return finite.all();
}

/// Row-wise Adagrad: one state value per row, the sum of the means of its squared gradients.
FOREBAY_CLONES bool update_rows_as_one(float learning_rate, const Rows& table,
                                       std::span<const std::int32_t> slots, const float* sums) {
  FiniteValues finite;
  with_width(table.dim, [&] [[gnu::always_inline]] (std::size_t dim) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (i + kAhead < slots.size()) {
        prefetch(table.weights + static_cast<std::size_t>(slots[i + kAhead]) * dim, dim);
        __builtin_prefetch(table.state + slots[i + kAhead]);
      }
      const auto slot = static_cast<std::size_t>(slots[i]);
      const float* gradient = sums + i * dim;
      float squares = 0;
      for (std::size_t k = 0; k < dim; ++k) squares += gradient[k] * gradient[k];
      float& state = table.state[slot];
      state += squares / static_cast<float>(dim);
      finite.see(&state, 1);
      const float rate = learning_rate / (std::sqrt(state) + kAdagradEpsilon);
      float* weights = table.weights + slot * dim;
      for (std::size_t k = 0; k < dim; ++k) weights[k] -= rate * gradient[k];
    }
  });
  return finite.all();
}

}  // namespace

Result<std::unique_ptr<EmbeddingTables>> EmbeddingTables::make(const TrainerSpec& spec,
                                                               const ModelShape& shape) {
  auto room = std::make_unique<CopyRoom>(copy_slot_bytes(shape), copy_room_bytes(shape));
  auto storage = make_tables(spec, shape, *room);
  if (!storage) return pass(storage);
  return std::make_unique<EmbeddingTables>(std::move(room), std::move(*storage),
                                           Rule{table_optimizer(spec), spec.pooling});
}

EmbeddingTables::EmbeddingTables(std::unique_ptr<CopyRoom> room,
                                 std::unique_ptr<TableStorage> storage, const Rule& rule)
    : rule_(rule),
      room_(std::move(room)),
      storage_(std::move(storage)),
      sums_(storage_->folds().size()),
      ahead_(*storage_, kModelShares) {}

std::size_t EmbeddingTables::pool(std::size_t feature, const BatchRows& rows, std::size_t first_id,
                                  std::span<const std::int32_t> lengths, float* out,
                                  std::size_t stride) const {
  std::size_t ids = 0;
  for (std::int32_t length : lengths) ids += static_cast<std::size_t>(length);
  const RowArena& arena = storage_->arena(feature);
  pool_bags({arena.weights(), rows.slots_of(feature).data(), rows.place.data() + first_id, ids,
             arena.width(), rule_.pooling == TrainerSpec::Pooling::kMean},
            lengths, out, stride);
  return ids;
}

void EmbeddingTables::add_up(std::size_t feature, std::span<const std::int32_t> lengths,
                             const BatchRows& rows, std::span<const GradientRun> runs) {
  const std::size_t width = storage_->arena(feature).width();
  sums_[feature].resize(rows.slots_of(feature).size() * width);
  AddedUp done;
  for (const GradientRun& run : runs) {
    add_by_row({lengths.data(), run.vectors, run.lists, width,
                rule_.pooling == TrainerSpec::Pooling::kMean},
               rows.place.data() + rows.first_id[feature], sums_[feature].data(), done);
    lengths = lengths.subspan(run.lists);
  }
}

bool EmbeddingTables::apply(std::size_t feature, std::span<const std::int32_t> slots,
                            const float* sums, float learning_rate) {
  using Optimizer = TrainerSpec::TableOptimizer;
  const RowArena& arena = storage_->arena(feature);
  arena.before_change(slots);
  const Rows table{arena.weights(), arena.state(), arena.width()};
  if (rule_.optimizer == Optimizer::kRowwiseAdagrad) {
    return update_rows_as_one(learning_rate, table, slots, sums);
  }
  const UpdateRule rule{rule_.optimizer == Optimizer::kSgd ? TrainerSpec::Optimizer::kSgd
                                                           : TrainerSpec::Optimizer::kAdagrad,
                        learning_rate};
  return update_rows(rule, table, slots, sums);
}

}  // namespace forebay
