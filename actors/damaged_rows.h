#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "actors/format/raw_split.h"
#include "core/data/column_set.h"

namespace forebay {

/// The damaged rows of the first epoch, by which later epochs are checked: since every block's
/// content is checked as it is read, another damaged row means that some node decodes wrongly.
///
/// Keeps at most kMost places, a few hundred KiB; past them it accuses none. Belongs to one thread.
class DamagedRows {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  /// `complete`: the run begins with the first epoch, so that it meets all of its rows.
  explicit DamagedRows(bool complete) : complete_(complete) {}

  /// Takes damaged rows of the first epoch.
  void add(const std::vector<BadRow>& rows) {
    if (!complete_) return;
    for (const BadRow& row : rows) places_.insert(RowOrigin::of(row.file, row.offset).packed);
    if (places_.size() <= kMost) return;
    complete_ = false;
    places_.clear();
  }

  /// The first of these rows that the first epoch did not find damaged; null: it found all of them.
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
