#pragma once

#include <cstddef>
#include <string>

#include "actors/format/parquet/scratch.h"
#include "actors/format/parquet/wanted_columns.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// The labels and weights of a grain: as the file has them, and whether they are sound.
///
/// Borrows the columns. Belongs to one thread.
class GrainLabels {
 public:
  /// Where the label and the weight of a row go; `weight` is null without weights.
  struct Place {
    float* label = nullptr;
    float* weight = nullptr;
  };

  GrainLabels(const WantedColumns& wanted, BufferPool& pool)
      : wanted_(wanted), labels_(pool), weights_(pool) {}

  // Memory for the values of `rows` rows as they are stored, missing_double() for null. Decode the
  // grain's values to it before anything else is asked.
  double* stored_labels(std::size_t rows) { return labels_.of(rows); }
  double* stored_weights(std::size_t rows) { return weights_.of(rows); }

  /// Writes the label and the weight of a row; returns whether they are sound.
  bool write(std::size_t row, const Place& to) const;
  /// Writes those of all rows, from `to` on; returns whether all are sound.
  bool write_all(std::size_t rows, const Place& to) const;
  /// Returns what is wrong with the label or else with the weight of a row.
  std::string damage_of(std::size_t row) const;

 private:
  const WantedColumns& wanted_;
  Scratch<double> labels_;
  Scratch<double> weights_;
};

/// Null as a double; no value that a file holds has these bits.
double missing_double();

}  // namespace forebay::parquet
