#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "actors/format/bad_row.h"
#include "core/data/column_set.h"

namespace forebay {

/// The damaged rows of the first epoch, against which later epochs are checked. Every block's
/// content is checked as it is read, so a row that is damaged only in a later epoch means that some
/// node decodes wrongly.
///
/// Keeps at most kMost locations (a few hundred KiB); above that number no row is reported any
/// more. Belongs to one thread.
class DamagedRows {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  /// `complete`: the run begins with the first epoch and therefore meets all of its rows.
  explicit DamagedRows(bool complete) : complete_(complete) {}

  /// Adds damaged rows of the first epoch.
  void add(const std::vector<BadRow>& rows) {
    if (!complete_) return;
    for (const BadRow& row : rows) places_.insert(RowOrigin::of(row.file, row.offset).packed);
    if (places_.size() <= kMost) return;
    complete_ = false;
    places_.clear();
  }

  /// Returns the first of `rows` that was not damaged in the first epoch, or nullptr if the first
  /// epoch found all of them damaged.
  const BadRow* first_other(const std::vector<BadRow>& rows) const {
    if (!complete_) return nullptr;
    const auto other = std::find_if(rows.begin(), rows.end(), [this](const BadRow& row) {
      return !places_.contains(RowOrigin::of(row.file, row.offset).packed);
    });
    return other == rows.end() ? nullptr : &*other;
  }

 private:
  bool complete_;
  std::unordered_set<std::uint64_t> places_;
};

}  // namespace forebay
