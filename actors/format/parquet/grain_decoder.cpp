#include "actors/format/parquet/grain_decoder.h"

#include <algorithm>
#include <cstdint>
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
#include "actors/format/parquet/grain_labels.h"
#include "actors/format/parquet/loaded_grain.h"
#include "actors/format/parquet/repeated_group.h"
#include "core/data/places_in_groups.h"
#include "core/data/repeated_columns.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMostIds = std::numeric_limits<std::int32_t>::max();  // offsets are 32-bit

/// A sparse column of the result.
struct IdColumn {
  std::size_t leaf = 0;
  bool is_list = false;
  IdSink ids = {};  ///< Of a column in a group only `room` is used.
  std::optional<PlaceInGroup> repeated = std::nullopt;
};

/// A dense column of the result.
struct DenseColumn {
  std::size_t place = 0;  ///< In ColumnFill::dense, if it is not in a group.
  std::optional<PlaceInGroup> repeated = std::nullopt;
};

BadRow place_in(const LoadedGrain& grain, std::uint64_t row, std::string reason) {
  return {.file = grain.block->file,
          .offset = grain.block->offset + row,
          .line = grain.head.first_row + row,
          .reason = std::move(reason),
          .text = {},
          .group = grain.head.group};
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
        labels_(wanted, pool) {
    place_columns();
  }

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

  /// Finds out which columns go to groups.
  void place_columns() {
    const std::vector<FeatureGroup>& groups = wanted_.schema.repeated;
    for (const auto& place : places_in_groups(groups, &FeatureGroup::dense, wanted_.dense.size()))
      dense_.push_back({.place = place ? 0 : plain_dense_++, .repeated = place});
    const auto places = places_in_groups(groups, &FeatureGroup::sparse, wanted_.sparse.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      ids_.push_back({.leaf = wanted_.sparse[i], .repeated = places[i]});
  }

  /// Takes memory for all rows and for as many ids as the pages can hold.
  std::optional<BadRow> reserve() {
    for (IdColumn& column : ids_) {
      for (LoadedGrain& grain : grains_) {
        column.is_list |= grain.head.leaves[column.leaf].most_repetition > 0;
        auto most = grain.most_ids(column.leaf);
        if (!most) return problem_of(grain, column.leaf, most.error().message);
        column.ids.room += *most;
        grain.room.push_back(*most);
      }
      if (column.ids.room > kMostIds)
        return problem_of(grains_.front(), column.leaf, "more ids than can be read at once");
    }
    const std::size_t flat = static_cast<std::size_t>(std::ranges::count_if(
        ids_, [](const IdColumn& column) { return !column.repeated && !column.is_list; }));
    const ColumnFill::Shape shape{.rows = rows_,
                                  .dense = plain_dense_,
                                  .sparse = flat,
                                  .origins = options_.keep_origins,
                                  .weights = wanted_.weight.has_value(),
                                  .extras = wanted_.extra.size()};
    if (auto problem = check_room(shape.dense_bytes() + shape.sparse_bytes())) return problem;
    fill_.emplace(shape, pool_);
    place_ids();
    for (const FeatureGroup& group : wanted_.schema.repeated)
      groups_.emplace_back(group, rows_, pool_);
    return std::nullopt;
  }

  /// What the lists of all columns take, or of those that are in no group.
  std::size_t list_bytes(bool of_groups) const {
    std::size_t bytes = 0;
    for (const IdColumn& column : ids_) {
      if (column.repeated && !of_groups) continue;
      if (column.is_list) bytes += list_column_bytes(rows_, column.ids.room);
    }
    return bytes;
  }

  /// Refuses lists that take more memory than is reserved for these grains (most_values() in
  /// parquet_file.cpp), and names the longest ones. `flat` is what the other columns take.
  std::optional<BadRow> check_room(std::size_t flat) const {
    std::uint64_t reserved = 0;
    for (const LoadedGrain& grain : grains_) reserved += grain.block->decoded;
    const std::size_t lists = list_bytes(true);
    if (lists == 0 || flat + lists <= reserved) return std::nullopt;
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
    const std::size_t bytes = list_bytes(false);
    if (bytes > 0) lists_ = pool_.take(bytes);
    SlabCarver carver(lists_.data());
    std::size_t flat = 0;
    for (IdColumn& column : ids_) {
      if (column.repeated) continue;
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

  std::optional<BadRow> problem_of(const LoadedGrain& grain, std::size_t leaf,
                                   const std::string& problem) const {
    if (problem.empty()) return std::nullopt;
    return place_in(grain, 0, "column " + quoted_text(wanted_.leaves[leaf].name) + ": " + problem);
  }

  std::optional<BadRow> decode_grain(const LoadedGrain& grain) {
    const std::size_t rows = grain.head.rows;
    if (auto problem = decode_flat(grain, 0, missing_double(), labels_.stored_labels(rows)))
      return problem;
    if (wanted_.weight) {
      double* const weights = labels_.stored_weights(rows);
      if (auto problem = decode_flat(grain, *wanted_.weight, missing_double(), weights))
        return problem;
    }
    const bool sound = labels_.write_all(rows, labels_at(0));
    const bool keeps_all = sound && options_.filter.keeps_all();
    // Only the rows that remain are dealt, and those of all grains together.
    if (keeps_all && grains_.size() == 1 && options_.deal) dealt_.begin(*options_.deal, rows);
    begin_groups(grain);
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
    for (RepeatedGroup& group : groups_) group.end(kept_);
    if (keeps_all) {
      end_rows(*grain.block, rows, nullptr);
    } else {
      keep_rows(grain, before);
    }
    return std::nullopt;
  }

  /// Takes memory for the columns of a grain that are in groups.
  void begin_groups(const LoadedGrain& grain) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      std::vector<RepeatedGroup::Room> room;
      for (const std::size_t sparse : wanted_.schema.repeated[i].sparse) {
        const GrainLeaf& leaf = grain.head.leaves[wanted_.sparse[sparse]];
        room.push_back({.ids = grain.room[sparse], .is_list = leaf.most_repetition > 0});
      }
      groups_[i].begin(grain.head.rows, room);
    }
  }

  template <class Value>
  std::optional<BadRow> decode_flat(const LoadedGrain& grain, std::size_t leaf, Value missing,
                                    Value* out) {
    return problem_of(grain, leaf,
                      decoder_.flat(grain.head.leaves[leaf].leaf(), grain.pages_of(leaf),
                                    grain.limits_of(leaf), grain.range_of(leaf), missing, out));
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

  /// Calls `write` with where dense column `i` of a grain goes, and deals it.
  template <class Write>
  std::optional<BadRow> write_dense(std::size_t i, const Write& write) {
    const auto& repeated = dense_[i].repeated;
    if (repeated) return write(groups_[repeated->group].dense(repeated->column));
    float* const place = fill_->dense[dense_[i].place] + kept_;
    auto problem = write(dealt_.source_of(place));
    if (!problem) dealt_.finish(place);
    return problem;
  }

  /// Decodes a leaf of numbers to the dense columns that are made of it: itself, or items of its
  /// lists.
  std::optional<BadRow> decode_dense(const LoadedGrain& grain, std::size_t leaf) {
    const std::size_t size = grain.head.leaves[leaf].list_size;
    const std::size_t rows = grain.head.rows;
    const auto is_of_leaf = [leaf](const WantedColumns::Dense& dense) {
      return dense.leaf == leaf;
    };
    if (size == 0) {
      const auto found = std::ranges::find_if(wanted_.dense, is_of_leaf) - wanted_.dense.begin();
      return write_dense(static_cast<std::size_t>(found), [&](float* out) {
        return decode_flat(grain, leaf, missing_value(), out);
      });
    }
    const Buffer items = pool_.take(rows * size * sizeof(float));
    const float* const from = items.as<const float>();
    auto problem = problem_of(
        grain, leaf,
        decoder_.fixed_lists(grain.head.leaves[leaf].leaf(), grain.pages_of(leaf),
                             grain.limits_of(leaf), grain.range_of(leaf), items.as<float>()));
    for (std::size_t i = 0; !problem && i < wanted_.dense.size(); ++i) {
      if (!is_of_leaf(wanted_.dense[i])) continue;
      problem = write_dense(i, [&](float* out) -> std::optional<BadRow> {
        for (std::size_t row = 0; row < rows; ++row)
          out[row] = from[row * size + wanted_.dense[i].item];
        return std::nullopt;
      });
    }
    return problem;
  }

  std::string decode_sparse(const LoadedGrain& grain, IdColumn& column) {
    if (column.repeated) return decode_repeated(grain, column);
    IdSink ids = dealt_.source_of(column.ids);
    std::string problem = decode_ids(grain, column.leaf, ids);
    if (problem.empty()) dealt_.finish(ids, column.ids);
    return problem;
  }

  std::string decode_ids(const LoadedGrain& grain, std::size_t leaf, IdSink& ids) {
    return decoder_.sparse(grain.head.leaves[leaf].leaf(), grain.pages_of(leaf),
                           grain.limits_of(leaf), grain.range_of(leaf), ids);
  }

  std::string decode_repeated(const LoadedGrain& grain, const IdColumn& column) {
    RepeatedGroup& group = groups_[column.repeated->group];
    const std::size_t leaf = column.leaf;
    const Leaf stored = grain.head.leaves[leaf].leaf();
    if (!stored.is_list()) return decode_ids(grain, leaf, group.ids(column.repeated->column));
    return decoder_.distinct(stored, grain.pages_of(leaf), grain.limits_of(leaf),
                             grain.range_of(leaf), group.lists(column.repeated->column));
  }

  /// Where the label and the weight of a row go.
  GrainLabels::Place labels_at(std::size_t row) const {
    return {.label = fill_->labels + kept_ + row,
            .weight = wanted_.weight ? fill_->weights + kept_ + row : nullptr};
  }

  /// Finishes the rows of the grain decoded last, of which `before` holds the numbers of ids:
  /// removes damaged ones and those that the filter does not keep.
  void keep_rows(const LoadedGrain& grain, const std::vector<IdColumn>& before) {
    const std::size_t rows = grain.head.rows;
    const BlockRef& block = *grain.block;
    std::vector<std::uint32_t> kept;
    bool all = true;
    for (std::size_t row = 0; row < rows; ++row) {
      const bool sound = labels_.write(row, labels_at(row));
      const bool keep = sound && options_.filter.keeps(block.file, block.offset + row);
      if (!sound)
        result_.bad.push_back(place_in(grain, row, labels_.damage_of(row)));
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
    for (const RepeatedGroup& group : groups_) gather(group.references());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (!ids_[i].repeated) compact_ids(kept, before[i].ids, ids_[i].ids);
    }
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
    for (const RepeatedGroup& group : groups_) dealt_.deal_in_place(group.references());
    result_.is_dealt = dealt_.has_begun();
    fill_->rows = kept_;
    ColumnSet columns = fill_->finish();
    const std::vector<float*> plain = std::exchange(columns.dense, {});
    for (const DenseColumn& column : dense_)
      columns.dense.push_back(column.repeated ? nullptr : plain[column.place]);
    columns.sparse.clear();
    for (const IdColumn& column : ids_) {
      // Without lists, as many ids as rows are one id in each.
      const bool jagged = column.ids.jagged && (column.is_list || column.ids.count != kept_);
      columns.sparse.push_back({column.ids.values, jagged ? column.ids.offsets : nullptr});
    }
    if (lists_) columns.slabs.push_back(std::move(lists_));
    for (RepeatedGroup& group : groups_) group.finish(columns);
    result_.columns = std::move(columns);
  }

  const WantedColumns& wanted_;
  const DecodeOptions& options_;
  BufferPool& pool_;
  std::vector<LoadedGrain> grains_;
  std::size_t rows_ = 0;
  std::optional<ColumnFill> fill_;
  std::vector<DenseColumn> dense_;
  std::size_t plain_dense_ = 0;  // dense columns that are in no group
  std::vector<IdColumn> ids_;
  std::vector<RepeatedGroup> groups_;
  Buffer lists_;
  ColumnDecoder decoder_;
  DealtColumns dealt_;
  GrainLabels labels_;    // of the grain decoded last
  std::size_t kept_ = 0;  // rows of the result so far
  Decoded result_;
};

}  // namespace

Decoded decode_grains(const WantedColumns& wanted, CpuLevel level, const RawSplit& raw,
                      const DecodeOptions& options, BufferPool& pool) {
  return GrainDecoder(wanted, level, options, pool).decode(raw);
}

}  // namespace forebay::parquet
