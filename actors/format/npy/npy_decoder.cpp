#include "actors/format/npy/npy_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/npy/loaded_unit.h"
#include "actors/format/row_values.h"
#include "core/data/column_set.h"

namespace forebay::npy {
namespace {

// Rows that are copied at once, so that the bytes of all columns stay in the L1 cache.
constexpr std::size_t kTile = 128;

struct LoadedUnit {
  const BlockRef* block = nullptr;
  std::vector<LoadedColumn> columns;
};

/// The ids of a sparse column, in order.
struct IdFill {
  std::int64_t* values = nullptr;
  std::int32_t* offsets = nullptr;  // nullptr: one id in every row
  std::size_t count = 0;
};

class NpyDecoder {
 public:
  NpyDecoder(const RawSplit& raw, const DecodeOptions& options, const Wanted& wanted,
             BufferPool& pool)
      : raw_(raw), options_(options), wanted_(wanted), pool_(pool) {}

  Decoded run() {
    if (!find_columns()) return std::move(decoded_);
    std::size_t rows = 0;
    for (const LoadedUnit& unit : units_) rows += unit.block->rows;
    fill_.emplace(shape_of(wanted_, rows, options_.keep_origins), pool_);
    if (!make_id_fills(rows)) return std::move(decoded_);
    for (const LoadedUnit& unit : units_) {
      for (std::size_t first = 0; first < unit.block->rows; first += kTile) {
        copy_tile(unit, first, std::min<std::size_t>(kTile, unit.block->rows - first));
      }
    }
    decoded_.columns = fill_->finish();
    for (const IdFill& ids : ids_) decoded_.columns.sparse.push_back({ids.values, ids.offsets});
    if (id_slab_) decoded_.columns.slabs.push_back(std::move(id_slab_));
    return std::move(decoded_);
  }

 private:
  static BadRow bad_row(const BlockRef& block, std::uint64_t row, std::string reason) {
    return {.file = block.file,
            .offset = block.offset + row,
            .line = row,
            .reason = std::move(reason),
            .text = {},
            .group = block.line};
  }

  bool find_columns() {
    const char* at = raw_.bytes.as<const char>();
    for (std::size_t i = 0; i < raw_.blocks.size(); ++i) {
      const BlockRef& block = raw_.blocks[i];
      auto columns = columns_of({at, raw_.sizes[i]}, wanted_.columns.size(), block.rows);
      if (!columns || !have_kinds(*columns)) {
        decoded_.miscounted = bad_row(block, 0, "fewer rows than were indexed");
        return false;
      }
      units_.push_back({&block, std::move(*columns)});
      at += raw_.sizes[i];
    }
    return true;
  }

  // Only ids may be several a row, and only integers are ids.
  bool have_kinds(const std::vector<LoadedColumn>& columns) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ColumnPlace& place = columns[i].place;
      const bool holds_ids = i >= wanted_.first_sparse() && i < wanted_.weight();
      if (holds_ids ? place.type.is_float() : place.items != 1) return false;
    }
    for (std::size_t i = 0; i < wanted_.choice.extra.size(); ++i) {
      const bool is_whole = wanted_.choice.schema.extra[i].kind == ExtraColumn::Kind::kInt64;
      if (is_whole && columns[wanted_.first_extra() + i].place.type.is_float()) return false;
    }
    return true;
  }

  bool make_id_fills(std::size_t rows) {
    const std::size_t columns = wanted_.choice.sparse.size();
    if (columns == 0) return true;
    std::vector<std::size_t> counts(columns);
    std::vector<bool> has_lists(columns);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      for (const LoadedUnit& unit : units_) {
        const std::uint32_t items = unit.columns[wanted_.first_sparse() + i].place.items;
        counts[i] += std::size_t{unit.block->rows} * items;
        if (items != 1) has_lists[i] = true;
      }
      if (counts[i] > std::numeric_limits<std::int32_t>::max()) {
        decoded_.damaged = bad_row(*units_.front().block, 0,
                                   "column \"" + wanted_.names[wanted_.first_sparse() + i] +
                                       "\": too many ids for one split");
        return false;
      }
      bytes += list_column_bytes(rows, counts[i]);
    }
    id_slab_ = pool_.take(bytes);
    SlabCarver carver(id_slab_.data());
    for (std::size_t i = 0; i < columns; ++i) {
      IdFill& ids = ids_.emplace_back();
      ids.values = carver.take<std::int64_t>(counts[i]);
      auto* const offsets = carver.take<std::int32_t>(rows + 1);
      if (!has_lists[i]) continue;
      ids.offsets = offsets;
      ids.offsets[0] = 0;
    }
    return true;
  }

  void copy_tile(const LoadedUnit& unit, std::size_t first, std::size_t count) {
    const RowList rows = choose_rows(unit, first, count);
    const std::size_t to = fill_->rows;
    for (std::size_t i = 0; i < fill_->dense.size(); ++i) {
      copy_floats(unit.columns[1 + i], rows, fill_->dense[i] + to);
    }
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      copy_id_column(unit.columns[wanted_.first_sparse() + i], rows, ids_[i]);
    }
    for (std::size_t i = 0; i < fill_->extras.size(); ++i) copy_extra(unit, i, rows);
    fill_->rows += rows.count;
  }

  // Fills in labels, weights and origins of the rows that are kept.
  RowList choose_rows(const LoadedUnit& unit, std::size_t first, std::size_t count) {
    const RowList tile{.count = count, .first = first, .all = true};
    copy_doubles(unit.columns[0], tile, values_.data());
    if (fill_->weights != nullptr) {
      copy_floats(unit.columns[wanted_.weight()], tile, weights_.data());
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!keep(*unit.block, first, i, fill_->rows + kept)) continue;
      kept_[kept++] = static_cast<std::uint16_t>(i);
    }
    return {.numbers = kept_.data(), .count = kept, .first = first, .all = kept == count};
  }

  bool keep(const BlockRef& block, std::size_t first, std::size_t i, std::size_t to) {
    const std::uint64_t row = first + i;
    const auto& threshold = wanted_.choice.label_threshold;
    const auto label = label_of(values_[i], threshold);
    if (!label) {
      decoded_.bad.push_back(bad_row(block, row,
                                     "label: " + number_text(values_[i]) +
                                         label_complaint(threshold) +
                                         ", in the trio's _labels.npy"));
      return false;
    }
    if (fill_->weights != nullptr && !is_weight(weights_[i])) {
      decoded_.bad.push_back(bad_row(
          block, row,
          wanted_.names[wanted_.weight()] + ": " + number_text(weights_[i]) + kWeightComplaint));
      return false;
    }
    if (!options_.filter.keeps(block.file, block.offset + row)) {
      ++decoded_.filtered;
      return false;
    }
    fill_->labels[to] = *label;
    if (fill_->weights != nullptr) fill_->weights[to] = weights_[i];
    if (fill_->origins != nullptr) {
      fill_->origins[to] = RowOrigin::of(block.file, block.offset + row);
    }
    return true;
  }

  void copy_id_column(const LoadedColumn& column, const RowList& rows, IdFill& ids) const {
    const std::size_t items = column.place.items;
    copy_ids(column, rows, ids.values + ids.count);
    if (ids.offsets != nullptr) {
      auto end = static_cast<std::int32_t>(ids.count);
      for (std::size_t i = 1; i <= rows.count; ++i) {
        end += static_cast<std::int32_t>(items);
        ids.offsets[fill_->rows + i] = end;
      }
    }
    ids.count += rows.count * items;
  }

  void copy_extra(const LoadedUnit& unit, std::size_t i, const RowList& rows) {
    const LoadedColumn& column = unit.columns[wanted_.first_extra() + i];
    std::int64_t* const out = fill_->extras[i] + fill_->rows;
    if (wanted_.choice.schema.extra[i].kind == ExtraColumn::Kind::kInt64) {
      return copy_ids(column, rows, out);
    }
    copy_doubles(column, rows, values_.data());
    for (std::size_t row = 0; row < rows.count; ++row) {
      const double value = values_[row];
      const double one_nan = std::numeric_limits<double>::quiet_NaN();
      out[row] = std::bit_cast<std::int64_t>(value != value ? one_nan : value);
    }
  }

  const RawSplit& raw_;
  const DecodeOptions& options_;
  const Wanted& wanted_;
  BufferPool& pool_;
  Decoded decoded_;
  std::vector<LoadedUnit> units_;
  std::optional<ColumnFill> fill_;
  std::vector<IdFill> ids_;
  Buffer id_slab_;
  // Of the rows of a tile.
  std::array<double, kTile> values_{};
  std::array<float, kTile> weights_{};
  std::array<std::uint16_t, kTile> kept_{};
};

}  // namespace

ColumnFill::Shape shape_of(const Wanted& wanted, std::size_t rows, bool origins) {
  return {.rows = rows,
          .dense = wanted.choice.dense.size(),
          .sparse = 0,
          .origins = origins,
          .weights = wanted.choice.weight.has_value(),
          .extras = wanted.choice.extra.size()};
}

Decoded decode_units(const RawSplit& raw, const DecodeOptions& options, const Wanted& wanted,
                     BufferPool& pool) {
  return NpyDecoder(raw, options, wanted, pool).run();
}

}  // namespace forebay::npy
