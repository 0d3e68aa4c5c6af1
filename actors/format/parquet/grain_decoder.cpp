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
#include "actors/format/parquet/grain_columns.h"
#include "actors/format/parquet/grain_labels.h"
#include "actors/format/parquet/loaded_grain.h"
#include "actors/format/parquet/repeated_group.h"
#include "core/data/repeated_columns.h"

namespace forebay::parquet {
namespace {

/// Decodes the grains of one split, column by column.
class GrainDecoder {
 public:
  GrainDecoder(const WantedColumns& wanted, CpuLevel level, const DecodeOptions& options,
               BufferPool& pool)
      : wanted_(wanted),
        options_(options),
        pool_(pool),
        decoder_(level, pool),
        columns_(wanted, pool),
        dealt_(pool),
        labels_(wanted, pool) {}

  Decoded decode(const RawSplit& raw) {
    if (auto problem = parse(raw)) {
      result_.miscounted = std::move(problem);
      return std::move(result_);
    }
    if (auto problem = columns_.reserve(grains_, options_.keep_origins)) {
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
    }
    return std::nullopt;
  }

  std::optional<BadRow> problem_of(const LoadedGrain& grain, std::size_t leaf,
                                   const std::string& problem) const {
    if (problem.empty()) return std::nullopt;
    return problem_in(grain, wanted_.leaves[leaf], problem);
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
    const std::vector<IdColumn> before = columns_.ids();
    for (IdColumn& column : columns_.ids()) {
      if (auto problem = problem_of(grain, column.leaf, decode_sparse(grain, column)))
        return problem;
    }
    for (RepeatedGroup& group : columns_.groups()) group.end(kept_);
    if (keeps_all) {
      end_rows(*grain.block, rows, nullptr);
    } else {
      keep_rows(grain, before);
    }
    return std::nullopt;
  }

  /// Takes memory for the columns of a grain that are in groups.
  void begin_groups(const LoadedGrain& grain) {
    for (std::size_t i = 0; i < columns_.groups().size(); ++i) {
      std::vector<RepeatedGroup::Room> room;
      for (const std::size_t sparse : wanted_.schema.repeated[i].sparse) {
        const GrainLeaf& leaf = grain.head.leaves[wanted_.sparse[sparse]];
        room.push_back({.ids = grain.room[sparse], .is_list = leaf.most_repetition > 0});
      }
      columns_.groups()[i].begin(grain.head.rows, room);
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
      std::int64_t* const place = columns_.fill().extras[i] + kept_;
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
    const auto& repeated = columns_.dense()[i].repeated;
    if (repeated) return write(columns_.groups()[repeated->group].dense(repeated->column));
    float* const place = columns_.fill().dense[columns_.dense()[i].place] + kept_;
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
    RepeatedGroup& group = columns_.groups()[column.repeated->group];
    const std::size_t leaf = column.leaf;
    const Leaf stored = grain.head.leaves[leaf].leaf();
    if (!stored.is_list()) return decode_ids(grain, leaf, group.ids(column.repeated->column));
    return decoder_.distinct(stored, grain.pages_of(leaf), grain.limits_of(leaf),
                             grain.range_of(leaf), group.lists(column.repeated->column));
  }

  /// Where the label and the weight of a row go.
  GrainLabels::Place labels_at(std::size_t row) const {
    return {.label = columns_.fill().labels + kept_ + row,
            .weight = wanted_.weight ? columns_.fill().weights + kept_ + row : nullptr};
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
    if (!all) columns_.compact(kept_, kept, before);
    end_rows(block, all ? rows : kept.size(), all ? nullptr : kept.data());
  }

  /// Counts the next `left` rows of the result, which are the first of a block, or those `kept`.
  void end_rows(const BlockRef& block, std::size_t left, const std::uint32_t* kept) {
    for (std::size_t i = 0; columns_.fill().origins != nullptr && i < left; ++i) {
      const std::size_t row = kept == nullptr ? i : kept[i];
      columns_.fill().origins[kept_ + i] = RowOrigin::of(block.file, block.offset + row);
    }
    kept_ += left;
  }

  void finish() {
    ColumnFill& fill = columns_.fill();
    dealt_.deal_in_place(fill.labels);
    dealt_.deal_in_place(fill.weights);
    dealt_.deal_in_place(fill.origins);
    for (const RepeatedGroup& group : columns_.groups()) dealt_.deal_in_place(group.references());
    result_.is_dealt = dealt_.has_begun();
    result_.columns = columns_.finish(kept_);
  }

  const WantedColumns& wanted_;
  const DecodeOptions& options_;
  BufferPool& pool_;
  std::vector<LoadedGrain> grains_;
  ColumnDecoder decoder_;
  GrainColumns columns_;
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
