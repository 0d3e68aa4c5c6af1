#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "actors/rank_share.h"
#include "actors/stage/repeated_rows.h"
#include "core/base/thread/thread_team.h"
#include "core/data/batch.h"
#include "core/data/column_set.h"
#include "core/data/places_in_groups.h"
#include "core/data/schema.h"

namespace forebay {

/// The batches of one rank: the rows that are its share, in columns of this schema.
struct RankedBatches {
  RankShare share;
  Schema columns;
  bool lists_once = false;  ///< Batch::lists_once, if columns repeat.
};

/// Cuts rows that arrive as column sets (packed or not), in order, into batches of a fixed number
/// of rows.
///
/// The rows run in lanes. Of a set of m rows each of L lanes takes a section of m / L consecutive
/// rows; the rows left over go one each to the lanes whose turn it is (lane_in_turn), so that at
/// every border between batches all lanes have had equally many rows. A batch has as many rows of
/// the first lane, then of the second one, and so on. With one lane, batches are runs of the rows.
///
/// Of each batch a rank cuts its share alone: whole lanes where the number of ranks divides that of
/// the lanes, else a run of rows. A set may lack rows that are in nobody's share here.
///
/// Owns each set until its last row is in a batch. Deterministic: the same sets give the same
/// batches, with one lane however the rows were divided into sets. Belongs to one thread.
class Batcher {
 public:
  /// `lanes` is a power of two and divides `batch_size`. The sets store the columns of
  /// `ranked.columns.repeated` once.
  Batcher(std::size_t batch_size, BufferPool& pool, std::size_t lanes = 1,
          RankedBatches ranked = {});

  /// From now on the threads of `team`, which must outlive the Batcher, copy the values of a large
  /// batch together.
  void copy_with(ThreadTeam& team) { team_ = &team; }

  /// The next `rows` rows are in no batch: earlier batches had them, up to a border between two
  /// batches. Call it before add().
  void skip(std::size_t rows);

  /// Adds the rows of `columns`; returns how many of them were skipped.
  std::size_t add(ColumnSet columns);
  /// Adds rows of which `columns` has some only; returns how many of all were skipped.
  std::size_t add(ColumnSet columns, const PartialRows& part);

  std::size_t rows() const { return rows_; }
  bool full() const { return rows_ >= batch_size_; }

  /// Returns the rank's share of the next batch: of `batch_size` rows, or of all remaining rows if
  /// fewer are left (`whole_rows`). Requires rows() > 0. Fills all fields of the batch except
  /// `number` and `after`.
  Batch cut();

  /// Drops the rows that are not in a batch yet; returns their number.
  std::size_t drop();

 private:
  struct Set {
    ColumnSet columns;
    std::size_t rows_left = 0;  // that are in no batch yet
  };
  struct Slice {
    Set* set;
    const ColumnSet* columns;  // null: the set lacks these rows
    std::size_t begin;
    std::size_t end;
    std::size_t rows() const { return end - begin; }
  };
  struct Lane {
    std::deque<Slice> slices;
    std::size_t to_skip = 0;
  };
  /// A batch: its rows, and where in them the lanes begin, with the end of the last one.
  struct Taken {
    std::vector<Slice> slices;
    std::vector<std::size_t> borders;
  };

  std::size_t add_rows(ColumnSet columns, std::size_t rows, const PartialRows* part);
  static void put(Lane& lane, Slice slice);
  static std::size_t take(Lane& lane, std::size_t rows, std::vector<Slice>& taken);
  Taken take_batch();
  RowRange share_of(const Taken& taken) const;
  bool is_repeated(std::size_t feature) const {
    return feature < sparse_.size() && sparse_[feature].has_value();
  }
  std::vector<RepeatedRows> repeated_in(const std::vector<Slice>& parts) const;
  static std::vector<Slice> within(const std::vector<Slice>& slices, const RowRange& rows);
  Batch empty_batch() const;
  void fill(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
            const std::vector<std::size_t>& first_ids, Batch& batch) const;
  static void fill_labels(const std::vector<Slice>& parts, Batch& batch);
  static void fill_rest(const std::vector<Slice>& parts, Batch& batch);
  void fill_dense(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                  Batch& batch) const;
  void fill_feature(std::size_t feature, const std::vector<Slice>& parts,
                    const std::vector<RepeatedRows>& repeated, std::size_t first_id,
                    Batch& batch) const;
  std::vector<std::size_t> first_ids_of(const std::vector<Slice>& parts,
                                        const std::vector<RepeatedRows>& repeated) const;
  std::size_t ids_of(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                     std::size_t feature) const;
  Batch room_for(const std::vector<Slice>& parts, const std::vector<RepeatedRows>& repeated,
                 std::size_t num_ids);
  void release(const std::vector<Slice>& parts);

  std::size_t batch_size_;
  BufferPool& pool_;
  RankedBatches ranked_;
  ThreadTeam* team_ = nullptr;
  std::vector<std::optional<PlaceInGroup>> sparse_;  // [sparse features]
  std::vector<Lane> lanes_;
  std::size_t turn_ = 0;  // lane_in_turn() gets the next row left over
  std::deque<Set> sets_;
  std::size_t rows_ = 0;
};

}  // namespace forebay
