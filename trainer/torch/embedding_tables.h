#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/data/batch.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/optimizer.h"
#include "trainer/torch/pages.h"

namespace forebay {

/// Where the ids of one batch lie, found once a batch: for each id the row of its table, for each
/// feature and share of the batch its first id.
struct IdLayout {
  std::vector<std::int32_t> table_rows;   ///< [num_ids]
  std::vector<std::size_t> first_id;      ///< [sparse_features + 1]
  std::vector<std::size_t> share_starts;  ///< [sparse_features, shares]: ids before the share.
  std::size_t shares = 0;
};

/// Fills a table of `rows` rows uniform within ±1/√rows (Naumov et al. 2019), as a function of
/// (seed, feature) alone.
void initialise_table(std::span<float> values, std::int64_t rows, std::uint64_t seed,
                      std::size_t feature);

/// Embedding bags (sums), one table a sparse feature, with the optimizer's state beside them.
///
/// A step reads and changes only rows that the batch names. The calls for different features may
/// run on different threads; those for one feature may not. Results do not depend on which.
class EmbeddingTables {
 public:
  /// Tables start as initialise_table has it.
  EmbeddingTables(const ModelShape& shape, const UpdateRule& rule, std::uint64_t seed);

  std::size_t features() const { return tables_.size(); }

  /// Sizes `layout` for `batch` and finds each feature's first id. Aborts when the batch's
  /// lengths do not add up to its ids.
  void begin_layout(const Batch& batch, std::size_t share_rows, IdLayout& layout) const;
  /// Then, feature by feature: folds the ids into rows by their positive modulus.
  void lay_out(const Batch& batch, std::size_t feature, std::size_t share_rows,
               IdLayout& layout) const;

  /// Sums the rows named by `lengths[0 … count)` ids from `rows` on, for each of `count` bags, into
  /// out, out + stride, …; returns how many ids that were.
  std::size_t pool(std::size_t feature, std::span<const std::int32_t> lengths,
                   const std::int32_t* rows, float* out, std::size_t stride) const;

  /// Working space of one thread for `update`.
  struct Scratch {
    Pages slot_of_row;  ///< Per row of the largest table: 1 + its place in `touched`, or 0.
    std::vector<std::int32_t> touched;
    std::vector<float> sums;
  };
  Scratch make_scratch() const;

  /// Adds up the gradients of each row of one table, in the order of the batch, and changes the
  /// row once. `gradients` has one vector a row of the batch, contiguous.
  void update(std::size_t feature, const Batch& batch, const IdLayout& layout,
              const float* gradients, Scratch& scratch);

  /// "table.0" and on: [rows, embedding_dim].
  void append_state(std::vector<StateTensor>& tensors) const;

 private:
  struct Table {
    std::int64_t rows = 0;
    Pages weights;
    Pages squares;  ///< Adagrad's sums; empty with SGD.
  };

  const std::size_t dim_;
  const UpdateRule rule_;
  std::vector<Table> tables_;
};

}  // namespace forebay
