#include "actors/format/parquet/column_decoder.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "actors/format/parquet/convert.h"
#include "actors/format/parquet/encoding/rle_reader.h"
#include "core/data/column_set.h"

namespace forebay::parquet {
namespace {

constexpr const char* kFewRows = "the pages hold fewer rows than their metadata say";
constexpr const char* kManyIds = "more ids than the metadata say";
constexpr const char* kPastEnd = "a dictionary index past the dictionary's end";
constexpr const char* kOtherSize = "a list of another size than its type says";
constexpr const char* kMiddle = "a page begins in the middle of a row";

void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, float* out) {
  to_floats(leaf, raw, count, out);
}
void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, double* out) {
  to_doubles(leaf, raw, count, out);
}
void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, std::int64_t* out) {
  to_ids(leaf, raw, count, out);
}

bool is_dictionary(std::int32_t encoding) {
  return encoding == static_cast<std::int32_t>(Encoding::kRleDictionary) ||
         encoding == static_cast<std::int32_t>(Encoding::kPlainDictionary);
}

/// Reads as many indices as `indices` has room for and looks them up. `most`, of a run before them
/// or 0, must be in the dictionary too.
template <class Value>
std::string look_up_some(RleReader& reader, std::span<std::uint32_t> indices, std::uint32_t most,
                         std::span<const Value> known, Value* out) {
  if (!reader.read(indices)) return "the dictionary indices of a page are not sound";
  for (std::size_t i = 0; i < indices.size(); ++i) most = std::max(most, indices[i]);
  if (most >= known.size()) return kPastEnd;
  for (std::size_t i = 0; i < indices.size(); ++i) out[i] = known[indices[i]];
  return "";
}

/// Returns which rows of a page of `rows` rows are wanted, and takes the page off `left`.
RowRange take_rows(std::size_t rows, RowRange& left) {
  RowRange wanted;
  wanted.skipped = std::min(left.skipped, rows);
  wanted.rows = std::min(rows - wanted.skipped, left.rows);
  left.skipped -= wanted.skipped;
  left.rows -= wanted.rows;
  return wanted;
}

/// Writes a value for each of `definitions`: the next of `next` where it is `most`, else `missing`.
template <class Value>
void spread(std::span<const std::uint8_t> definitions, std::uint8_t most, const Value* next,
            Value missing, Value* out) {
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const bool present = definitions[i] == most;
    out[i] = present ? *next : missing;
    next += present ? 1 : 0;
  }
}

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

  /// Writes the items of a page, whose values that are not null begin at `next`, up to the end of
  /// the range.
  std::string add(const PageLevels& levels, const float* next) {
    for (std::size_t i = 0; i < levels.count(); ++i) {
      if (levels.repetitions()[i] == 0) {
        if (!is_whole()) return kOtherSize;
        if (all_begun()) return "";
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
};

/// Writes the offsets that were left out while each row had one id.
void make_jagged(IdSink& out) {
  if (out.jagged) return;
  std::iota(out.offsets, out.offsets + out.rows + 1, std::int32_t{0});
  out.jagged = true;
}

/// Writes the offsets of the rows `wanted` of a page without lists; `count` ids are before them.
void write_flat_ends(const PageLevels& levels, const RowRange& wanted, std::size_t count,
                     std::int32_t* ends) {
  auto end = static_cast<std::int32_t>(count);
  for (std::size_t i = 0; i < wanted.rows; ++i) {
    end += levels.is_present(wanted.skipped + i) ? 1 : 0;
    ends[i] = end;
  }
}

/// Passes over the rows of a page that are skipped and takes them off `skipped`; returns the level
/// behind them.
std::size_t pass_lists(const PageLevels& levels, std::size_t& skipped) {
  const std::uint8_t* const repetitions = levels.repetitions();
  std::size_t at = 0;
  for (; at < levels.count(); ++at) {
    if (repetitions[at] == 0 && skipped == 0) break;
    skipped -= repetitions[at] == 0 ? 1 : 0;
  }
  return at;
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
  const std::uint8_t* const repetitions = levels.repetitions();
  const std::uint8_t* const definitions = levels.definitions();
  const std::uint8_t most = levels.most_definition();
  const std::size_t size = levels.count();
  const bool all = levels.all_present();
  auto count = static_cast<std::int64_t>(out.count);  // past 32 bits only before it is refused
  std::int32_t* const before = out.offsets + out.rows;
  std::int32_t* const last = before + most_rows;
  std::int32_t* at = before;
  std::size_t end = begin;
  for (; end < size; ++end) {
    const bool begins = repetitions[end] == 0;
    if (begins && at == last) break;
    at += begins ? 1 : 0;
    count += all || definitions[end] == most ? 1 : 0;
    *at = static_cast<std::int32_t>(count);
  }
  return {.end = end,
          .rows = static_cast<std::size_t>(at - before),
          .ids = static_cast<std::size_t>(count) - out.count};
}

}  // namespace

ColumnDecoder::ColumnDecoder(CpuLevel level, BufferPool& pool)
    : unpack_(unpack_bits_for(level)),
      unpacked_(pool),
      levels_(pool, unpack_),
      values_(Values<float>(pool), Values<double>(pool), Values<std::int64_t>(pool)) {}

template <class Value>
std::string ColumnDecoder::read_dictionary(const Leaf& leaf, const Page& page) {
  const bool plain = page.encoding == static_cast<std::int32_t>(Encoding::kPlainDictionary);
  const std::int32_t encoding = plain ? static_cast<std::int32_t>(Encoding::kPlain) : page.encoding;
  if (auto problem = read_values(leaf, encoding, page.values, page.num_values, raw_);
      !problem.empty())
    return problem;
  values<Value>().known = page.num_values;
  convert(leaf, raw_, page.num_values, values<Value>().dictionary.of(page.num_values));
  return "";
}

/// Reads indices piece by piece, so that they stay in the first cache, and looks them up.
template <class Value>
std::string ColumnDecoder::look_up(std::span<const char> indices, std::size_t count, Value* out) {
  if (indices.empty()) return "a page without its dictionary indices";
  const auto width = static_cast<std::uint8_t>(indices[0]);
  if (width > 32) return "dictionary indices of more than 32 bits";
  RleReader reader(indices.subspan(1), width, unpack_);
  const std::span<const Value> known(values<Value>().dictionary.data(), values<Value>().known);
  std::array<std::uint32_t, 1024> some;  // NOLINT: written before it is read.
  for (std::size_t done = 0; done < count;) {
    std::uint32_t index = 0;
    std::size_t taken = reader.take_equal(count - done, index);
    if (taken > 0) {
      if (index >= known.size()) return kPastEnd;
      std::fill_n(out + done, taken, known[index]);
    } else {
      taken = std::min(some.size(), count - done);
      if (auto problem =
              look_up_some(reader, std::span(some).first(taken), index, known, out + done);
          !problem.empty())
        return problem;
    }
    done += taken;
  }
  return "";
}

template <class Value>
std::string ColumnDecoder::read_page_values(const Leaf& leaf, const Page& page, Value* out) {
  if (levels_.present() == 0) return "";
  if (is_dictionary(page.encoding)) return look_up(levels_.values(), levels_.present(), out);
  if (auto problem = read_values(leaf, page.encoding, levels_.values(), levels_.present(), raw_);
      !problem.empty())
    return problem;
  convert(leaf, raw_, levels_.present(), out);
  return "";
}

/// Reads pages until one holds data, and that one's levels; dictionaries on the way are kept.
template <class Value>
std::string ColumnDecoder::next_page(const Leaf& leaf, PageReader& reader, Page& page) {
  while (!reader.at_end()) {
    if (!reader.next(page)) return reader.problem();
    if (page.is_dictionary) {
      if (auto problem = read_dictionary<Value>(leaf, page); !problem.empty()) return problem;
    } else if (page.num_values > 0) {
      return levels_.read(leaf, page);
    }
  }
  return kFewRows;
}

/// Writes a value for each of the rows `wanted` of the page read last.
template <class Value>
std::string ColumnDecoder::flat_page(const Leaf& leaf, const Page& page, const RowRange& wanted,
                                     Value missing, Value* out) {
  const bool all_present = levels_.all_present();
  // A page of which all values are wanted is decoded in its place.
  const bool in_place = all_present && wanted.rows == page.num_values;
  Value* const read = in_place ? out : values<Value>().some.of(levels_.present());
  if (auto problem = read_page_values(leaf, page, read); !problem.empty()) return problem;
  if (!all_present) {
    spread(std::span(levels_.definitions() + wanted.skipped, wanted.rows), leaf.most_definition,
           static_cast<const Value*>(read + levels_.present_before(wanted.skipped)), missing, out);
  } else if (!in_place) {
    std::copy_n(read + wanted.skipped, wanted.rows, out);
  }
  return "";
}

template <class Value>
// NOLINTNEXTLINE(readability-function-size): six parameters, which callers choose.
std::string ColumnDecoder::flat(const Leaf& leaf, std::span<const char> pages,
                                const PageReader::Limits& limits, const RowRange& range,
                                Value missing, Value* out) {
  values<Value>().known = 0;
  PageReader reader(pages, limits, unpacked_);
  RowRange left = range;
  while (left.rows > 0) {
    Page page;
    if (auto problem = next_page<Value>(leaf, reader, page); !problem.empty()) return problem;
    const RowRange wanted = take_rows(page.num_values, left);
    if (wanted.rows == 0) continue;
    if (auto problem = flat_page(leaf, page, wanted, missing, out); !problem.empty())
      return problem;
    out += wanted.rows;
  }
  return "";
}

template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, float, float*);
template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, double,
                                         double*);
template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, std::int64_t,
                                         std::int64_t*);

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
  return "";
}

/// Appends `ids` ids of the page read last, from its id `first` on.
std::string ColumnDecoder::append_ids(const Leaf& leaf, const Page& page, std::size_t first,
                                      std::size_t ids, IdSink& out) {
  if (ids > out.room - out.count) return kManyIds;
  const bool in_place = ids == levels_.present();
  std::int64_t* const to = out.values + out.count;
  std::int64_t* const read = in_place ? to : values<std::int64_t>().some.of(levels_.present());
  if (auto problem = read_page_values(leaf, page, read); !problem.empty()) return problem;
  if (!in_place) std::copy_n(read + first, ids, to);
  out.count += ids;
  return "";
}

std::string ColumnDecoder::flat_ids(const Leaf& leaf, PageReader& reader, const RowRange& range,
                                    IdSink& out) {
  RowRange left = range;
  while (left.rows > 0) {
    Page page;
    if (auto problem = next_page<std::int64_t>(leaf, reader, page); !problem.empty())
      return problem;
    const RowRange wanted = take_rows(page.num_values, left);
    if (wanted.rows == 0) continue;
    const std::size_t count = out.count;
    const std::size_t first = levels_.present_before(wanted.skipped);
    const std::size_t ids = levels_.present_before(wanted.skipped + wanted.rows) - first;
    if (auto problem = append_ids(leaf, page, first, ids, out); !problem.empty()) return problem;
    if (ids != wanted.rows) make_jagged(out);
    if (out.jagged) write_flat_ends(levels_, wanted, count, out.offsets + out.rows + 1);
    out.rows += wanted.rows;
  }
  return "";
}

/// Reads the page after the one in which the last row began; `goes_on` says whether that row's list
/// goes on in it.
std::string ColumnDecoder::next_page_of_list(const Leaf& leaf, PageReader& reader, Page& page,
                                             bool& goes_on) {
  goes_on = false;
  while (!reader.at_end()) {
    if (!reader.next(page)) return reader.problem();
    if (page.is_dictionary || page.num_values == 0) continue;
    if (auto problem = levels_.read(leaf, page); !problem.empty()) return problem;
    goes_on = levels_.repetitions()[0] != 0;
    break;
  }
  return "";
}

std::string ColumnDecoder::list_ids(const Leaf& leaf, PageReader& reader, const RowRange& range,
                                    IdSink& out) {
  out.jagged = true;
  RowRange left = range;
  bool first_page = true;
  while (true) {
    Page page;
    bool goes_on = true;
    auto problem = left.rows > 0 ? next_page<std::int64_t>(leaf, reader, page)
                                 : next_page_of_list(leaf, reader, page, goes_on);
    if (!problem.empty() || !goes_on) return problem;
    if (first_page && levels_.repetitions()[0] != 0) return kMiddle;
    first_page = false;
    // Once a row of the range has begun, all levels are of the range until it ends.
    const bool begun = left.rows < range.rows;
    const std::size_t begin = begun ? 0 : pass_lists(levels_, left.skipped);
    const ListPart part = write_list_ends(levels_, begin, left.rows, out);
    problem = append_ids(leaf, page, levels_.present_before(begin), part.ids, out);
    if (!problem.empty()) return problem;
    out.rows += part.rows;
    left.rows -= part.rows;
    if (part.end < page.num_values) return "";
  }
}

std::string ColumnDecoder::sparse(const Leaf& leaf, std::span<const char> pages,
                                  const PageReader::Limits& limits, const RowRange& range,
                                  IdSink& out) {
  values<std::int64_t>().known = 0;
  PageReader reader(pages, limits, unpacked_);
  return leaf.is_list() ? list_ids(leaf, reader, range, out) : flat_ids(leaf, reader, range, out);
}

}  // namespace forebay::parquet
