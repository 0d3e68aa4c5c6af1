#pragma once

#include <cstdint>
#include <vector>

#include "actors/format/column_fill.h"
#include "actors/format/format.h"
#include "actors/format/npy/loaded_unit.h"
#include "actors/format/npy/trio.h"
#include "actors/format/npy/wanted.h"
#include "core/data/digest.h"

namespace forebay::npy {

/// A trio, cut into units: ranges of rows that take about 1 MiB as they are read. An array in C's
/// order is read in whole rows, one in Fortran's order only in the wanted columns.
class NpyFile final : public UnitFile {
 public:
  static constexpr std::uint64_t kUnitBytes = 1 << 20;

  /// `columns` are those of `wanted` in this trio. Borrows nothing.
  NpyFile(const Wanted& wanted, Trio trio, std::vector<TrioColumn> columns);

  std::vector<Unit> units() const override;
  Digest content() const override { return trio_.digest; }
  UnitRead read_of(std::uint64_t unit) const override;

 private:
  // The rows of a unit.
  struct Rows {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };

  Rows rows_of(std::uint64_t unit) const;
  std::uint64_t row_bytes() const;
  void read_array(std::size_t array, const Rows& rows, UnitRead& read, std::uint64_t& bytes,
                  std::vector<ColumnPlace>& places) const;
  void read_by_column(std::size_t array, const Rows& rows, UnitRead& read, std::uint64_t& bytes,
                      std::vector<ColumnPlace>& places) const;
  std::uint64_t decoded_bytes(std::uint64_t rows) const;

  const Trio trio_;
  const std::vector<TrioColumn> columns_;
  ColumnFill::Shape shape_;               // of all but ids; its rows are unset
  std::vector<std::uint32_t> id_counts_;  // of a row, by sparse column
  std::uint64_t unit_rows_ = 1;
};

}  // namespace forebay::npy
