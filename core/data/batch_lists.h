#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/data/batch.h"

namespace forebay {

/// The lists of a batch's sparse features as `Batch::ids` has them: of a feature one for each row,
/// or, where Batch::lists_once holds and rows share their values, one for each different row.
///
/// Refers to the batch, which must outlive it and have sound repeats (are_sound). Immutable.
class BatchLists {
 public:
  BatchLists() = default;
  explicit BatchLists(const Batch& batch);
  BatchLists(BatchLists&&) = default;
  BatchLists& operator=(BatchLists&&) = default;

  std::size_t features() const { return repeats_.size(); }
  /// Which rows share a list of the feature; null: each row has its own.
  const BatchRepeats* repeats(std::size_t feature) const { return repeats_[feature]; }
  /// The entry in Batch::repeats of a feature whose rows share lists.
  std::size_t group(std::size_t feature) const {
    return static_cast<std::size_t>(repeats_[feature] - groups_);
  }
  /// How long the feature's lists are, in their order.
  std::span<const std::int32_t> lengths(std::size_t feature) const { return lengths_[feature]; }
  std::size_t count(std::size_t feature) const { return lengths_[feature].size(); }
  /// The ids of all lists of the features before this one, or of all.
  std::size_t first_id(std::size_t feature) const { return first_id_[feature]; }
  /// The ids of all lists of the feature; of each of them. Need lengths that are not negative and
  /// add up to the ids of the batch.
  std::span<const std::int64_t> all_ids(std::size_t feature) const {
    return {ids_ + first_id(feature), ids_ + first_id(feature + 1)};
  }
  std::vector<std::span<const std::int64_t>> ids(std::size_t feature) const;
  /// The list of a row.
  std::size_t number(std::size_t feature, std::size_t row) const {
    return repeats_[feature] == nullptr ? row : repeats_[feature]->numbers[row];
  }

 private:
  const BatchRepeats* groups_ = nullptr;
  std::vector<const BatchRepeats*> repeats_;            // by feature
  std::vector<std::span<const std::int32_t>> lengths_;  // by feature
  std::vector<std::vector<std::int32_t>> gathered_;     // lengths of lists that rows share
  std::vector<std::size_t> first_id_;                   // by feature, and the end
  const std::int64_t* ids_ = nullptr;
};

/// Whether the numbers of each group are those of `rows` rows: every number's first row is said,
/// and the numbers ascend in the order of their first rows.
bool are_sound(std::span<const BatchRepeats> groups, std::size_t rows);

/// Which rows share their values, with memory of its own.
class OwnedRepeats {
 public:
  /// Appends the rows [first, end) of a batch: rows that share values there share them here, but
  /// with no row that was appended before.
  void append(const BatchRepeats& from, std::size_t first, std::size_t end);
  /// Appends rows with these numbers of `unique` lists; false if the numbers are not sound.
  bool append(std::span<const std::uint32_t> numbers, std::size_t unique);
  /// Appends rows that share values with no other.
  void append_different(std::size_t rows);
  void clear();

  std::span<const std::uint32_t> numbers() const { return numbers_; }
  std::span<const std::uint32_t> first_rows() const { return first_rows_; }
  /// As repeats of these features; valid until the next change of this object.
  BatchRepeats of(FeatureGroup features) const {
    return {std::move(features), first_rows_.size(), numbers_.data(), first_rows_.data()};
  }

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> first_rows_;
};

}  // namespace forebay
