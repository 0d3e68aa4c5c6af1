#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread/thread_team.h"
#include "core/data/batch.h"
#include "trainer/embedding/pages.h"

namespace forebay {

/// The table rows that a batch names, and their slots. The lists of a feature whose values repeat
/// (Batch::repeats) are those of its different rows alone, in their order. Rows are distinct within
/// a feature, in the order in which the batch first names them: sums by row are added in that
/// order, in whatever slots the rows are.
struct BatchRows {
  std::uint64_t batch = 0;        ///< Its number.
  const Batch* source = nullptr;  ///< The batch, while its rows are found and given slots.
  std::size_t mark = 0;           ///< For the storage's use.
  std::size_t shares = 0;         ///< Shares of the batch, `share_rows` of its rows each.
  std::size_t share_rows = 0;
  std::uint64_t lookups = 0;              ///< Ids of the batch.
  std::vector<std::int32_t> repeats;      ///< [features]: its entry in Batch::repeats; -1: none.
  std::vector<std::size_t> first_id;      ///< [features + 1], over the ids of the lists here.
  std::vector<std::size_t> share_starts;  ///< [features, shares]: ids before the share; not of
                                          ///< features whose values repeat.
  std::vector<std::int32_t> place;        ///< [ids here]: index among its feature's rows.
  std::vector<std::size_t> first_row;     ///< [features + 1]
  std::vector<std::int64_t> keys;         ///< [distinct rows]
  std::vector<std::int32_t> times;        ///< [distinct rows]: how often the batch names it.
  std::vector<std::int32_t> slots;        ///< [distinct rows]: in the feature's arena.
  std::uint64_t fetched_lookups = 0;  ///< Ids whose row was not in memory when it was requested.

  /// Which rows of the batch `of` share a list of the feature; null: each has its own.
  const BatchRepeats* repeats_of(const Batch& of, std::size_t feature) const {
    return repeats[feature] < 0 ? nullptr : &of.repeats[static_cast<std::size_t>(repeats[feature])];
  }
  std::size_t features() const { return first_row.size() - 1; }
  std::size_t num_rows() const { return keys.size(); }
  std::span<const std::int32_t> slots_of(std::size_t feature) const {
    return std::span(slots).subspan(first_row[feature],
                                    first_row[feature + 1] - first_row[feature]);
  }
};

/// Finds the distinct rows of batches. Keeps working memory: 32 to 64 bytes for each id of the
/// largest of its features, with a team of every feature, and 12 bytes for each distinct row.
/// Belongs to one thread at a time.
class RowFinder {
 public:
  /// `table_rows`: a key is the id folded by its positive modulus; 0: the id is the key. With a
  /// `team`, which must outlive it, features are divided among its members.
  explicit RowFinder(std::vector<std::int64_t> table_rows, ThreadTeam* team = nullptr)
      : table_rows_(std::move(table_rows)),
        team_(team),
        sets_(team == nullptr ? 1 : table_rows_.size()),
        found_(table_rows_.size()),
        turns_(table_rows_.size()) {
    std::iota(turns_.begin(), turns_.end(), std::size_t{0});
  }

  /// Fills all of `rows` except the slots. Returns an error for lengths that are negative or do not
  /// add up to the batch's ids.
  Status find(const Batch& batch, std::size_t share_rows, BatchRows& rows);

 private:
  /// The distinct rows of one feature.
  struct FeatureRows {
    std::vector<std::int64_t> keys;
    std::vector<std::int32_t> times;
  };

  /// Finds them by hashing; keeps its memory from feature to feature.
  class KeySet {
   public:
    /// Starts a feature of at most so many ids.
    void clear(std::size_t ids);
    /// Where the search for the key begins; brings that entry into the cache of the CPU.
    std::size_t look_up(std::int64_t key) const;
    /// The index of the key among the keys found so far, whose count grows by `times`; appends a
    /// new key. `at` is from look_up().
    std::int32_t place_of(std::int64_t key, std::size_t at, std::int32_t times, FeatureRows& found);

   private:
    struct Entry {
      std::int64_t key;
      std::int32_t place;
      std::uint32_t stamp;  ///< The feature that wrote it.
    };

    Pages entries_;
    std::size_t capacity_ = 0;  ///< A power of two.
    std::uint32_t stamp_ = 0;
  };

  struct Sizes {
    std::size_t ids = 0;     ///< Of the feature's lists in the batch.
    std::size_t kept = 0;    ///< Of its lists in BatchRows.
    std::size_t stored = 0;  ///< In Batch::ids.
    bool negative = false;
  };

  void for_features(const std::function<void(std::size_t)>& body);
  void group_features(const Batch& batch, BatchRows& rows);
  Status measure(const Batch& batch, BatchRows& rows);
  void measure_feature(const Batch& batch, std::size_t feature, BatchRows& rows);
  void find_feature(const Batch& batch, std::size_t feature, BatchRows& rows);
  void find_plain(const Batch& batch, std::size_t feature, KeySet& set, BatchRows& rows);
  void find_repeated(const Batch& batch, std::size_t feature, KeySet& set, BatchRows& rows);
  void join(BatchRows& rows);

  const std::vector<std::int64_t> table_rows_;
  ThreadTeam* const team_;
  std::vector<KeySet> sets_;                      // one, or [features]
  std::vector<FeatureRows> found_;                // [features]
  std::vector<std::size_t> turns_;                // [features]: in the order of their turns
  std::vector<Sizes> sizes_;                      // [features]
  std::vector<std::size_t> batch_ids_;            // [features]: where its ids begin in the batch
  std::vector<std::vector<std::int32_t>> times_;  // [groups]: rows that share each list
};

}  // namespace forebay
