// The part of ColumnDecoder that reads lists.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "actors/format/parquet/column_decoder.h"
#include "core/data/column_set.h"

namespace forebay::parquet {
namespace {

constexpr const char* kOtherSize = "a list of another size than its type says";
constexpr const char* kMiddle = "a page begins in the middle of a row";

/// Puts the items of lists of a fixed size in their places, page by page.
class FixedListItems {
 public:
  FixedListItems(std::size_t size, const RowRange& range, float* out)
      : size_(size),
        skipped_(range.skipped),
        end_(range.skipped + range.rows),
        out_(out),
        items_(size) {}

  bool all_begun() const { return row_ == end_; }
  bool is_done() const { return all_begun() && is_whole(); }
  std::size_t end() const { return end_level_; }  ///< Levels taken of the page added last.

  /// Writes the items of a page, whose values that are not null begin at `next`, up to the end of
  /// the range.
  std::string add(const PageLevels& levels, const float* next) {
    end_level_ = levels.count();
    for (std::size_t i = 0; i < levels.count(); ++i) {
      if (levels.repetitions()[i] == 0) {
        if (!is_whole()) return kOtherSize;
        if (all_begun()) {
          end_level_ = i;
          return "";
        }
        begin_row();
      } else if (row_ == 0) {
        return kMiddle;
      }
      absent_ = !levels.is_present(i);
      if (items_ == size_) return kOtherSize;
      if (!absent_ && row_ > skipped_) row_out()[items_] = *next;
      next += absent_ ? 0 : 1;
      ++items_;
    }
    return "";
  }

 private:
  /// Whether the row begun last has all of its items; one null alone may stand for a null list.
  bool is_whole() const { return items_ == size_ || (items_ == 1 && absent_); }
  float* row_out() const { return out_ + (row_ - skipped_ - 1) * size_; }
  void begin_row() {
    ++row_;
    items_ = 0;
    if (row_ > skipped_) std::fill_n(row_out(), size_, missing_value());
  }

  const std::size_t size_;
  const std::size_t skipped_;
  const std::size_t end_;
  float* const out_;
  std::size_t row_ = 0;  ///< Rows begun.
  std::size_t items_;    ///< Of the row begun last.
  bool absent_ = false;  ///< Whether the item read last was null.
  std::size_t end_level_ = 0;
};

/// Calls `visit(level)` for each level from `first` on at which a row begins, until it returns
/// false. Looks at eight levels at once, since most rows have several; eight readable bytes follow
/// the levels.
template <class Visitor>
void for_each_row(const PageLevels& levels, std::size_t first, const Visitor& visit) {
  constexpr std::size_t kAtOnce = sizeof(std::uint64_t);
  constexpr std::uint64_t kOnes = 0x0101010101010101;  // levels are 0 or 1
  const std::size_t count = levels.count();
  for (std::size_t level = first; level < count; level += kAtOnce) {
    std::uint64_t some = 0;
    std::memcpy(&some, levels.repetitions() + level, kAtOnce);
    std::uint64_t begins = ~some & kOnes;
    if (count - level < kAtOnce) begins &= (std::uint64_t{1} << 8 * (count - level)) - 1;
    for (; begins != 0; begins &= begins - 1) {
      if (!visit(level + static_cast<std::size_t>(std::countr_zero(begins)) / 8)) return;
    }
  }
}

/// Passes over the rows of a page that are skipped and takes them off `skipped`; returns the level
/// behind them.
std::size_t pass_lists(const PageLevels& levels, std::size_t& skipped) {
  std::size_t end = levels.count();
  for_each_row(levels, 0, [&](std::size_t level) {
    if (skipped == 0) {
      end = level;
      return false;
    }
    --skipped;
    return true;
  });
  return end;
}

/// What a page has of the rows wanted.
struct ListPart {
  std::size_t end = 0;   ///< The level behind them.
  std::size_t rows = 0;  ///< Rows that begin in the page.
  std::size_t ids = 0;
};

/// Writes the offsets of the lists from level `begin` on, until `most_rows` of them have begun and
/// ended. The first levels may belong to the row written last.
ListPart write_list_ends(const PageLevels& levels, std::size_t begin, std::size_t most_rows,
                         const IdSink& out) {
  std::size_t count = out.count;
  std::size_t counted = begin;  // the level up to which ids are in `count`
  std::int32_t* at = out.offsets + out.rows;
  std::int32_t* const last = at + most_rows;
  const auto end_list = [&](std::size_t end) {
    count += levels.present_between(counted, end);
    counted = end;
    *at = static_cast<std::int32_t>(count);  // past 32 bits only before it is refused
  };
  std::size_t end = levels.count();
  for_each_row(levels, begin, [&](std::size_t level) {
    if (at == last) {
      end = level;
      return false;
    }
    end_list(level);
    ++at;
    return true;
  });
  end_list(end);
  return {.end = end,
          .rows = static_cast<std::size_t>(at - out.offsets) - out.rows,
          .ids = count - out.count};
}

}  // namespace

std::string ColumnDecoder::fixed_lists(const Leaf& leaf, std::span<const char> pages,
                                       const PageReader::Limits& limits, const RowRange& range,
                                       float* out) {
  values<float>().known = 0;
  PageReader reader(pages, limits, unpacked_);
  FixedListItems lists(leaf.list_size, range, out);
  while (!lists.is_done()) {
    Page page;
    if (reader.at_end() && lists.all_begun()) return kOtherSize;
    if (auto problem = next_page<float>(leaf, reader, page); !problem.empty()) return problem;
    float* const read = values<float>().some.of(levels_.present());
    if (auto problem = read_page_values(leaf, page, read); !problem.empty()) return problem;
    if (auto problem = lists.add(levels_, read); !problem.empty()) return problem;
  }
  return check_end(range, levels_.rows_from(lists.end()), reader);
}

/// Reads the page after the one in which the last row began, if there is one; `goes_on` says
/// whether that row's list goes on in it.
std::string ColumnDecoder::next_page_of_list(const Leaf& leaf, PageReader& reader, Page& page,
                                             bool& goes_on) {
  goes_on = false;
  while (!reader.at_end()) {
    if (!reader.next(page)) return reader.problem();
    if (page.is_dictionary || page.num_values == 0) continue;
    if (auto problem = levels_.read(leaf, page); !problem.empty()) return problem;
    goes_on = levels_.repetitions()[0] != 0;
    return "";
  }
  page = {};
  return "";
}

template <class Take>
std::string ColumnDecoder::each_list_page(const Leaf& leaf, PageReader& reader,
                                          const RowRange& range, const Take& take) {
  RowRange left = range;
  bool first_page = true;
  while (true) {
    Page page;
    bool goes_on = true;
    auto problem = left.rows > 0 ? next_page<std::int64_t>(leaf, reader, page)
                                 : next_page_of_list(leaf, reader, page, goes_on);
    if (!problem.empty()) return problem;
    if (!goes_on) return check_end(range, page.num_values > 0 ? levels_.rows_from(0) : 0, reader);
    if (first_page && levels_.repetitions()[0] != 0) return kMiddle;
    first_page = false;
    // Once a row of the range has begun, all levels are of the range until it ends.
    const bool begun = left.rows < range.rows;
    const std::size_t begin = begun ? 0 : pass_lists(levels_, left.skipped);
    ListPart part;
    problem = take(page, begin, left.rows, part);
    if (!problem.empty()) return problem;
    left.rows -= part.rows;
    if (part.end < page.num_values) return check_end(range, levels_.rows_from(part.end), reader);
  }
}

std::string ColumnDecoder::list_ids(const Leaf& leaf, PageReader& reader, const RowRange& range,
                                    IdSink& out) {
  out.jagged = true;
  return each_list_page(
      leaf, reader, range,
      [&](const Page& page, std::size_t begin, std::size_t most_rows, ListPart& part) {
        part = write_list_ends(levels_, begin, most_rows, out);
        auto problem = append_ids(leaf, page, levels_.present_before(begin), part.ids, out);
        out.rows += part.rows;
        return problem;
      });
}

/// Adds lists of the page read last, whose ids begin with the page's id `first`.
std::string ColumnDecoder::add_lists(const Leaf& leaf, const Page& page, std::size_t first,
                                     std::span<const std::int32_t> ends, DistinctLists& out) {
  const auto ids = static_cast<std::size_t>(ends.back());
  const std::size_t present = levels_.present();
  if (present > 0 && page.has_indices()) {
    std::uint32_t* const indices = indices_.of(present);
    if (auto problem = read_indices(levels_.values(), present, indices); !problem.empty())
      return problem;
    return out.add(
        std::span<const std::uint32_t>(indices + first, ids), ends,
        [&](std::span<const std::uint32_t> keys, std::int64_t* to) { return ids_at(keys, to); });
  }
  std::int64_t* const read = values<std::int64_t>().some.of(present);
  if (auto problem = read_page_values(leaf, page, read); !problem.empty()) return problem;
  return out.add(std::span<const std::int64_t>(read + first, ids), ends,
                 [](std::span<const std::int64_t> keys, std::int64_t* to) {
                   std::ranges::copy(keys, to);
                   return std::string();
                 });
}

std::string ColumnDecoder::distinct(const Leaf& leaf, std::span<const char> pages,
                                    const PageReader::Limits& limits, const RowRange& range,
                                    DistinctLists& out) {
  values<std::int64_t>().known = 0;
  PageReader reader(pages, limits, unpacked_);
  return each_list_page(
      leaf, reader, range,
      [&](const Page& page, std::size_t begin, std::size_t most_rows, ListPart& part) {
        const IdSink ends{.offsets = ends_.of(page.num_values + 1)};
        ends.offsets[0] = 0;
        part = write_list_ends(levels_, begin, most_rows, ends);
        return add_lists(leaf, page, levels_.present_before(begin), {ends.offsets, part.rows + 1},
                         out);
      });
}

}  // namespace forebay::parquet
