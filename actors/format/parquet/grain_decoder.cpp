#include "actors/format/parquet/grain_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/column_fill.h"
#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/dealt_columns.h"
#include "actors/format/parquet/grain_head.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/scratch.h"
#include "actors/format/row_values.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMostIds = std::numeric_limits<std::int32_t>::max();  // offsets are 32-bit

/// A loaded grain and its place in the result.
struct LoadedGrain {
  const BlockRef* block = nullptr;
  GrainHead head;
  std::span<const char> pages;  ///< What follows the head.
  std::size_t begin = 0;        ///< Row of the result that its first row becomes.
};

/// A sparse column of the result.
struct IdColumn {
  std::size_t leaf = 0;
  bool is_list = false;
  IdSink ids;
};

BadRow place_in(const LoadedGrain& grain, std::uint64_t row, std::string reason) {
  return {.file = grain.block->file,
          .offset = grain.block->offset + row,
          .line = grain.head.first_row + row,
          .reason = std::move(reason),
          .text = {},
          .group = grain.head.group};
}

/// Null as a double; no value that a file holds has these bits.
double missing_double() { return static_cast<double>(missing_value()); }

std::string number_text(double value) {
  if (std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(missing_double()))
    return "null";
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.9g", value);
  return number.data();
}

/// Decodes the grains of one split, column by column.
class GrainDecoder {
 public:
  GrainDecoder(const WantedColumns& wanted, CpuLevel level, const DecodeOptions& options,
               BufferPool& pool)
      : wanted_(wanted),
        options_(options),
        pool_(pool),
        decoder_(level, pool),
        dealt_(pool),
        labels_(pool),
        weights_(pool) {}

  Decoded decode(const RawSplit& raw) {
    if (auto problem = parse(raw)) {
      result_.miscounted = std::move(problem);
      return std::move(result_);
    }
    if (auto problem = reserve()) {
      result_.damaged = std::move(problem);
      return std::move(result_);
    }
    for (const LoadedGrain& grain : grains_) {
      if (auto problem = decode_grain(grain)) {
        result_.damaged = std::move(problem);
        return std::move(result_);
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  std::optional<BadRow> parse(const RawSplit& raw) {
    std::span<const char> left(raw.bytes.as<const char>(), raw.bytes.size());
    for (std::size_t i = 0; i < raw.blocks.size(); ++i) {
      LoadedGrain& grain = grains_.emplace_back();
      grain.block = &raw.blocks[i];
      grain.begin = rows_;
      const auto bytes = left.first(raw.sizes[i]);
      left = left.subspan(raw.sizes[i]);
      if (!GrainHead::parse(bytes, wanted_.leaves.size(), grain.head) ||
          grain.head.rows != grain.block->rows) {
        return place_in(grain, 0, "other rows than were indexed");
      }
      grain.pages = bytes.subspan(GrainHead::bytes_of(wanted_.leaves.size()));
      rows_ += grain.head.rows;
    }
    return std::nullopt;
  }

  /// Takes memory for all rows and for as many ids as the pages can hold.
  std::optional<BadRow> reserve() {
    for (const std::size_t leaf : wanted_.sparse) {
      IdColumn& column = ids_.emplace_back();
      column.leaf = leaf;
      for (const LoadedGrain& grain : grains_) {
        column.is_list |= grain.head.leaves[leaf].most_repetition > 0;
        auto most = most_ids(grain, leaf);
        if (!most) return problem_of(grain, leaf, most.error().message);
        column.ids.room += *most;
      }
      if (column.ids.room > kMostIds)
        return problem_of(grains_.front(), leaf, "more ids than can be read at once");
    }
    const std::size_t flat = static_cast<std::size_t>(
        std::ranges::count_if(ids_, [](const IdColumn& column) { return !column.is_list; }));
    const ColumnFill::Shape shape{.rows = rows_,
                                  .dense = wanted_.dense.size(),
                                  .sparse = flat,
                                  .origins = options_.keep_origins,
                                  .weights = wanted_.weight.has_value(),
                                  .extras = wanted_.extra.size()};
    if (auto problem = check_room(shape.dense_bytes() + shape.sparse_bytes())) return problem;
    fill_.emplace(shape, pool_);
    place_ids();
    return std::nullopt;
  }

  std::size_t list_bytes() const {
    std::size_t bytes = 0;
    for (const IdColumn& column : ids_) {
      if (column.is_list) bytes += list_column_bytes(rows_, column.ids.room);
    }
    return bytes;
  }

  /// Refuses lists that take more memory than is reserved for these grains (most_values() in
  /// parquet_file.cpp), and names the longest ones. `flat` is what the other columns take.
  std::optional<BadRow> check_room(std::size_t flat) const {
    std::uint64_t reserved = 0;
    for (const LoadedGrain& grain : grains_) reserved += grain.block->decoded;
    if (list_bytes() == 0 || flat + list_bytes() <= reserved) return std::nullopt;
    const auto longest = std::ranges::max_element(
        ids_, {}, [](const IdColumn& column) { return column.is_list ? column.ids.room : 0; });
    return problem_of(grains_.front(), longest->leaf,
                      "its lists have up to " + std::to_string(longest->ids.room) + " ids in " +
                          std::to_string(rows_) +
                          " rows, more than twice what the sizes of its pages let expect, and no "
                          "memory is reserved for them; write the file with smaller row groups, "
                          "or without a page index");
  }

  void place_ids() {
    const std::size_t bytes = list_bytes();
    if (bytes > 0) lists_ = pool_.take(bytes);
    SlabCarver carver(lists_.data());
    std::size_t flat = 0;
    for (IdColumn& column : ids_) {
      if (column.is_list) {
        column.ids.values = carver.take<std::int64_t>(column.ids.room);
        column.ids.offsets = carver.take<std::int32_t>(rows_ + 1);
      } else {
        const SparseFill& fill = fill_->sparse[flat++];
        column.ids.values = fill.values;
        column.ids.offsets = fill.offsets;
      }
      column.ids.offsets[0] = 0;
    }
  }

  static PageReader::Limits limits_of(const GrainLeaf& leaf) {
    return {.codec = leaf.codec, .page_bytes = leaf.page_bytes, .values = leaf.values};
  }
  static std::span<const char> pages_of_leaf(const LoadedGrain& grain, std::size_t leaf) {
    return grain.pages.subspan(grain.head.leaves[leaf].begin, grain.head.leaves[leaf].bytes);
  }

  /// At most so many ids are in the pages of a column: one a row, or as many as they say.
  Result<std::size_t> most_ids(const LoadedGrain& grain, std::size_t leaf) const {
    const GrainLeaf& stored = grain.head.leaves[leaf];
    if (stored.most_repetition == 0) return static_cast<std::size_t>(grain.head.rows);
    auto counted = count_values(pages_of_leaf(grain, leaf), limits_of(stored));
    if (!counted) return counted;
    return std::min<std::size_t>(*counted, stored.values);
  }

  std::optional<BadRow> problem_of(const LoadedGrain& grain, std::size_t leaf,
                                   const std::string& problem) const {
    if (problem.empty()) return std::nullopt;
    return place_in(grain, 0, "column " + quoted_text(wanted_.leaves[leaf].name) + ": " + problem);
  }

  std::optional<BadRow> decode_grain(const LoadedGrain& grain) {
    const std::size_t rows = grain.head.rows;
    if (auto problem = decode_flat(grain, 0, missing_double(), labels_.of(rows))) return problem;
    if (wanted_.weight) {
      if (auto problem = decode_flat(grain, *wanted_.weight, missing_double(), weights_.of(rows)))
        return problem;
    }
    const bool keeps_all = label_rows(rows) && options_.filter.keeps_all();
    // Only the rows that remain are dealt, and those of all grains together.
    if (keeps_all && grains_.size() == 1 && options_.deal) dealt_.begin(*options_.deal, rows);
    if (auto problem = decode_extras(grain)) return problem;
    for (std::size_t leaf = 0; leaf < wanted_.leaves.size(); ++leaf) {
      if (wanted_.leaves[leaf].use != Use::kDense) continue;
      if (auto problem = decode_dense(grain, leaf)) return problem;
    }
    const std::vector<IdColumn> before = ids_;
    for (IdColumn& column : ids_) {
      if (auto problem = problem_of(grain, column.leaf, decode_sparse(grain, column)))
        return problem;
    }
    if (keeps_all) {
      end_rows(*grain.block, rows, nullptr);
    } else {
      keep_rows(grain, before);
    }
    return std::nullopt;
  }

  template <class Value>
  std::optional<BadRow> decode_flat(const LoadedGrain& grain, std::size_t leaf, Value missing,
                                    Value* out) {
    const GrainLeaf& stored = grain.head.leaves[leaf];
    const RowRange range{.skipped = stored.skipped, .rows = grain.head.rows};
    return problem_of(grain, leaf,
                      decoder_.flat(stored.leaf(), pages_of_leaf(grain, leaf), limits_of(stored),
                                    range, missing, out));
  }

  std::optional<BadRow> decode_extras(const LoadedGrain& grain) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < wanted_.extra.size(); ++i) {
      const std::size_t leaf = wanted_.extra[i];
      std::int64_t* const place = fill_->extras[i] + kept_;
      std::int64_t* const out = dealt_.source_of(place);
      const bool real = wanted_.leaves[leaf].use == Use::kNumber;
      auto problem = real ? decode_flat(grain, leaf, kNone, reinterpret_cast<double*>(out))
                          : decode_flat(grain, leaf, std::int64_t{0}, out);
      if (problem) return problem;
      dealt_.finish(place);
    }
    return std::nullopt;
  }

  /// Decodes a leaf of numbers to the dense columns that are made of it: itself, or items of its
  /// lists.
  std::optional<BadRow> decode_dense(const LoadedGrain& grain, std::size_t leaf) {
    const GrainLeaf& stored = grain.head.leaves[leaf];
    const RowRange range{.skipped = stored.skipped, .rows = grain.head.rows};
    const auto is_of_leaf = [leaf](const WantedColumns::Dense& dense) {
      return dense.leaf == leaf;
    };
    if (stored.list_size == 0) {
      const auto found = std::ranges::find_if(wanted_.dense, is_of_leaf) - wanted_.dense.begin();
      float* const place = fill_->dense[static_cast<std::size_t>(found)] + kept_;
      auto problem = decode_flat(grain, leaf, missing_value(), dealt_.source_of(place));
      if (!problem) dealt_.finish(place);
      return problem;
    }
    const Buffer items = pool_.take(range.rows * stored.list_size * sizeof(float));
    const float* const from = items.as<const float>();
    auto problem = problem_of(grain, leaf,
                              decoder_.fixed_lists(stored.leaf(), pages_of_leaf(grain, leaf),
                                                   limits_of(stored), range, items.as<float>()));
    if (problem) return problem;
    for (std::size_t i = 0; i < wanted_.dense.size(); ++i) {
      if (!is_of_leaf(wanted_.dense[i])) continue;
      float* const place = fill_->dense[i] + kept_;
      float* const out = dealt_.source_of(place);
      for (std::size_t row = 0; row < range.rows; ++row)
        out[row] = from[row * stored.list_size + wanted_.dense[i].item];
      dealt_.finish(place);
    }
    return std::nullopt;
  }

  std::string decode_sparse(const LoadedGrain& grain, IdColumn& column) {
    const GrainLeaf& stored = grain.head.leaves[column.leaf];
    const RowRange range{.skipped = stored.skipped, .rows = grain.head.rows};
    IdSink ids = dealt_.source_of(column.ids);
    std::string problem = decoder_.sparse(stored.leaf(), pages_of_leaf(grain, column.leaf),
                                          limits_of(stored), range, ids);
    if (problem.empty()) dealt_.finish(ids, column.ids);
    return problem;
  }

  /// Writes the label and the weight of a row; returns whether they are sound.
  bool label_row(std::size_t row) {
    const auto label = label_of(labels_.data()[row], wanted_.label_threshold);
    fill_->labels[kept_ + row] = label.value_or(0.0F);
    if (!wanted_.weight) return label.has_value();
    const auto weight = static_cast<float>(weights_.data()[row]);
    fill_->weights[kept_ + row] = weight;
    return label && is_weight(weight);
  }

  /// Writes the labels and weights of `rows` rows; returns whether all are sound.
  bool label_rows(std::size_t rows) {
    bool sound = true;
    if (wanted_.weight) {
      for (std::size_t row = 0; row < rows; ++row) sound &= label_row(row);
      return sound;
    }
    // Loops that the compiler vectorises, for the usual labels.
    const double* const from = labels_.data();
    float* const to = fill_->labels + kept_;
    if (wanted_.label_threshold) {
      constexpr double kLargest = std::numeric_limits<double>::max();
      const double threshold = *wanted_.label_threshold;
      for (std::size_t row = 0; row < rows; ++row) {
        to[row] = from[row] >= threshold ? 1.0F : 0.0F;
        sound &= std::abs(from[row]) <= kLargest;
      }
      return sound;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      to[row] = static_cast<float>(from[row]);
      sound &= (from[row] == 0) | (from[row] == 1);
    }
    return sound;
  }

  /// Returns what is wrong with the label or else with the weight of a row.
  std::string damage_of(std::size_t row) const {
    if (!label_of(labels_.data()[row], wanted_.label_threshold)) {
      return "label: " + number_text(labels_.data()[row]) +
             label_complaint(wanted_.label_threshold);
    }
    return "column " + quoted_text(wanted_.leaves[*wanted_.weight].name) + ": " +
           number_text(weights_.data()[row]) + kWeightComplaint;
  }

  /// Finishes the rows of the grain decoded last, of which `before` holds the numbers of ids:
  /// removes damaged ones and those that the filter does not keep.
  void keep_rows(const LoadedGrain& grain, const std::vector<IdColumn>& before) {
    const std::size_t rows = grain.head.rows;
    const BlockRef& block = *grain.block;
    std::vector<std::uint32_t> kept;
    bool all = true;
    for (std::size_t row = 0; row < rows; ++row) {
      const bool sound = label_row(row);
      const bool keep = sound && options_.filter.keeps(block.file, block.offset + row);
      if (!sound)
        result_.bad.push_back(place_in(grain, row, damage_of(row)));
      else if (!keep)
        ++result_.filtered;
      if (!keep && all) {
        all = false;
        kept.resize(row);
        std::iota(kept.begin(), kept.end(), std::uint32_t{0});
      }
      if (keep && !all) kept.push_back(static_cast<std::uint32_t>(row));
    }
    if (!all) compact(kept, before);
    end_rows(block, all ? rows : kept.size(), all ? nullptr : kept.data());
  }

  /// Counts the next `left` rows of the result, which are the first of a block, or those `kept`.
  void end_rows(const BlockRef& block, std::size_t left, const std::uint32_t* kept) {
    for (std::size_t i = 0; fill_->origins != nullptr && i < left; ++i) {
      const std::size_t row = kept == nullptr ? i : kept[i];
      fill_->origins[kept_ + i] = RowOrigin::of(block.file, block.offset + row);
    }
    kept_ += left;
  }

  void compact(const std::vector<std::uint32_t>& kept, const std::vector<IdColumn>& before) {
    const auto gather = [&](auto* column) {
      for (std::size_t i = 0; i < kept.size(); ++i) column[kept_ + i] = column[kept_ + kept[i]];
    };
    gather(fill_->labels);
    for (float* const column : fill_->dense) gather(column);
    for (std::int64_t* const column : fill_->extras) gather(column);
    if (fill_->weights != nullptr) gather(fill_->weights);
    for (std::size_t i = 0; i < ids_.size(); ++i) compact_ids(kept, before[i].ids, ids_[i].ids);
  }

  /// Removes the ids of the rows that are not kept from those behind `before`.
  static void compact_ids(const std::vector<std::uint32_t>& kept, const IdSink& before,
                          IdSink& now) {
    now.rows = before.rows + kept.size();
    now.count = before.count;
    if (!now.jagged) {
      for (const std::uint32_t row : kept) now.values[now.count++] = now.values[before.rows + row];
      return;
    }
    std::int32_t* const ends = now.offsets + before.rows + 1;
    for (std::size_t to = 0; to < kept.size(); ++to) {
      // No end before this row's was overwritten, unless by the same number.
      const std::size_t row = kept[to];
      const auto first = row == 0 ? before.count : static_cast<std::size_t>(ends[row - 1]);
      const auto last = static_cast<std::size_t>(ends[row]);
      std::copy(now.values + first, now.values + last, now.values + now.count);
      now.count += last - first;
      ends[to] = static_cast<std::int32_t>(now.count);
    }
  }

  void finish() {
    dealt_.deal_in_place(fill_->labels);
    dealt_.deal_in_place(fill_->weights);
    dealt_.deal_in_place(fill_->origins);
    result_.is_dealt = dealt_.has_begun();
    fill_->rows = kept_;
    ColumnSet columns = fill_->finish();
    columns.sparse.clear();
    for (const IdColumn& column : ids_) {
      // Without lists, as many ids as rows are one id in each.
      const bool jagged = column.ids.jagged && (column.is_list || column.ids.count != kept_);
      columns.sparse.push_back({column.ids.values, jagged ? column.ids.offsets : nullptr});
    }
    if (lists_) columns.slabs.push_back(std::move(lists_));
    result_.columns = std::move(columns);
  }

  const WantedColumns& wanted_;
  const DecodeOptions& options_;
  BufferPool& pool_;
  std::vector<LoadedGrain> grains_;
  std::size_t rows_ = 0;
  std::optional<ColumnFill> fill_;
  std::vector<IdColumn> ids_;
  Buffer lists_;
  ColumnDecoder decoder_;
  DealtColumns dealt_;
  Scratch<double> labels_;  // of the grain decoded last, as stored
  Scratch<double> weights_;
  std::size_t kept_ = 0;  // rows of the result so far
  Decoded result_;
};

}  // namespace

Decoded decode_grains(const WantedColumns& wanted, CpuLevel level, const RawSplit& raw,
                      const DecodeOptions& options, BufferPool& pool) {
  return GrainDecoder(wanted, level, options, pool).decode(raw);
}

}  // namespace forebay::parquet
