#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/data/column_set.h"

namespace forebay::parquet {

inline constexpr const char* kManyIds = "more ids than the metadata say";

/// The lists of a column that differ from the list of the row before.
///
/// Gets the lists page by page, as keys: whatever the page stores for an id, such as its index in
/// a dictionary. Keys of one page are equal if their ids are, so only lists that differ are
/// converted to ids. The first and the last list of a page, which may go on in the page before and
/// after it, are converted in any case and compared by their ids.
///
/// Borrows the memory that it writes to. Belongs to one thread.
class DistinctLists {
 public:
  /// `to.values` has room for `room` ids, `to.offsets` for the end of each row.
  DistinctLists(const SparseColumn& to, std::size_t room) : to_(to), room_(room) {
    to_.offsets[0] = 0;
  }

  /// Adds rows of a page. `ends` has where the list that the page before began ends in `keys`, then
  /// where each row of the page does. `convert(keys, ids)` writes the ids of keys and returns "" or
  /// what is wrong with them. Returns that, or that there are more ids than room.
  template <class Key, class Convert>
  std::string add(std::span<const Key> keys, std::span<const std::int32_t> ends,
                  const Convert& convert) {
    if (keys.size() > room_ - ids_ - open_ids_) return kManyIds;
    const auto list_of = [&](std::size_t row) {
      return keys.subspan(end_of(ends, row - 1), end_of(ends, row) - end_of(ends, row - 1));
    };
    if (auto problem = extend(keys.first(end_of(ends, 0)), convert); !problem.empty())
      return problem;
    for (std::size_t row = 1; row < ends.size(); ++row) {
      close();
      const bool whole = row > 1 && row + 1 < ends.size();
      if (whole && equal(list_of(row), list_of(row - 1))) {
        stored_.push_back(0);
        continue;
      }
      is_open_ = true;
      if (auto problem = extend(list_of(row), convert); !problem.empty()) return problem;
      if (whole) store();
    }
    return "";
  }

  /// Ends the last row. Returns for each row whether its list is stored.
  std::vector<std::uint8_t> finish() {
    close();
    return std::move(stored_);
  }

 private:
  static std::size_t end_of(std::span<const std::int32_t> ends, std::size_t row) {
    return static_cast<std::size_t>(ends[row]);
  }
  template <class T>
  static bool equal(std::span<const T> one, std::span<const T> other) {
    return one.size() == other.size() &&
           (one.empty() || std::memcmp(one.data(), other.data(), one.size_bytes()) == 0);
  }

  /// Writes ids of the open list behind those that are stored.
  template <class Key, class Convert>
  std::string extend(std::span<const Key> keys, const Convert& convert) {
    std::int64_t* const end = to_.values + ids_ + open_ids_;
    open_ids_ += keys.size();
    return keys.empty() ? "" : convert(keys, end);
  }

  /// Ends the open list, if there is one, and stores it if its ids differ from the list before.
  void close() {
    if (!is_open_) return;
    const std::span<const std::int64_t> open(to_.values + ids_, open_ids_);
    if (lists_ > 0 && equal(open, last_list())) {
      stored_.push_back(0);
      is_open_ = false;
      open_ids_ = 0;
    } else {
      store();
    }
  }

  /// The open list becomes the one stored last.
  void store() {
    ids_ += std::exchange(open_ids_, 0);
    to_.offsets[++lists_] = static_cast<std::int32_t>(ids_);
    stored_.push_back(1);
    is_open_ = false;
  }

  std::span<const std::int64_t> last_list() const {
    const std::size_t begin = to_.first_id(lists_ - 1);
    return {to_.values + begin, ids_ - begin};
  }

  const SparseColumn to_;
  const std::size_t room_;
  std::size_t ids_ = 0;    ///< Of the lists that are stored.
  std::size_t lists_ = 0;  ///< That are stored.
  bool is_open_ = false;  ///< A list has begun whose end, or whose list before, is not in the page.
  std::size_t open_ids_ = 0;
  std::vector<std::uint8_t> stored_;
};

}  // namespace forebay::parquet
