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
constexpr const char* kOtherRows = "the pages hold other rows than their offset index says";
constexpr const char* kPastEnd = "a dictionary index past the dictionary's end";
constexpr const char* kUnsoundIndices = "the dictionary indices of a page are not sound";

void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, float* out) {
  to_floats(leaf, raw, count, out);
}
void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, double* out) {
  to_doubles(leaf, raw, count, out);
}
void convert(const Leaf& leaf, const RawValues& raw, std::size_t count, std::int64_t* out) {
  to_ids(leaf, raw, count, out);
}

/// Looks up indices. `most`, of a run before them or 0, must be in the dictionary too.
template <class Value>
std::string look_up_some(std::span<const std::uint32_t> indices, std::uint32_t most,
                         std::span<const Value> known, Value* out) {
  for (std::size_t i = 0; i < indices.size(); ++i) most = std::max(most, indices[i]);
  if (most >= known.size()) return kPastEnd;
  for (std::size_t i = 0; i < indices.size(); ++i) out[i] = known[indices[i]];
  return "";
}

/// Makes a reader of the dictionary indices of a page.
std::string open_indices(std::span<const char> indices, UnpackBits unpack, RleReader& reader) {
  if (indices.empty()) return "a page without its dictionary indices";
  const auto width = static_cast<std::uint8_t>(indices[0]);
  if (width > 32) return "dictionary indices of more than 32 bits";
  reader = RleReader(indices.subspan(1), width, unpack);
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

}  // namespace

ColumnDecoder::ColumnDecoder(CpuLevel level, BufferPool& pool)
    : unpack_(unpack_bits_for(level)),
      unpacked_(pool),
      levels_(pool, unpack_),
      indices_(pool),
      ends_(pool),
      values_(Values<float>(pool), Values<double>(pool), Values<std::int64_t>(pool)) {}

template <class Value>
std::string ColumnDecoder::read_dictionary(const Leaf& leaf, const Page& page) {
  values<Value>().known = 0;
  if (leaf.meaning == Meaning::kNull) return "";  // no value may name an entry
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
  RleReader reader;
  if (auto problem = open_indices(indices, unpack_, reader); !problem.empty()) return problem;
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
      const auto read = std::span(some).first(taken);
      if (!reader.read(read)) return kUnsoundIndices;
      if (auto problem = look_up_some<Value>(read, index, known, out + done); !problem.empty())
        return problem;
    }
    done += taken;
  }
  return "";
}

std::string ColumnDecoder::read_indices(std::span<const char> indices, std::size_t count,
                                        std::uint32_t* out) {
  RleReader reader;
  if (auto problem = open_indices(indices, unpack_, reader); !problem.empty()) return problem;
  return reader.read({out, count}) ? "" : kUnsoundIndices;
}

std::string ColumnDecoder::ids_at(std::span<const std::uint32_t> indices, std::int64_t* out) const {
  const Values<std::int64_t>& own = std::get<Values<std::int64_t>>(values_);
  return look_up_some<std::int64_t>(indices, 0, {own.dictionary.data(), own.known}, out);
}

template <class Value>
std::string ColumnDecoder::read_page_values(const Leaf& leaf, const Page& page, Value* out) {
  if (levels_.present() == 0) return "";
  if (leaf.meaning == Meaning::kNull) return "a value in a column of type null";
  if (page.has_indices()) return look_up(levels_.values(), levels_.present(), out);
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

std::string ColumnDecoder::check_end(const RowRange& range, std::size_t behind,
                                     const PageReader& reader) {
  if (!range.behind) return "";
  const auto more = reader.values_left();
  if (!more) return more.error().message;
  return behind == *range.behind && *more == 0 ? "" : kOtherRows;
}

template std::string ColumnDecoder::read_page_values(const Leaf&, const Page&, float*);
template std::string ColumnDecoder::read_page_values(const Leaf&, const Page&, std::int64_t*);
template std::string ColumnDecoder::next_page<float>(const Leaf&, PageReader&, Page&);
template std::string ColumnDecoder::next_page<std::int64_t>(const Leaf&, PageReader&, Page&);

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
  std::size_t behind = 0;
  while (left.rows > 0) {
    Page page;
    if (auto problem = next_page<Value>(leaf, reader, page); !problem.empty()) return problem;
    const RowRange wanted = take_rows(page.num_values, left);
    behind = page.num_values - wanted.skipped - wanted.rows;
    if (wanted.rows == 0) continue;
    if (auto problem = flat_page(leaf, page, wanted, missing, out); !problem.empty())
      return problem;
    out += wanted.rows;
  }
  return check_end(range, behind, reader);
}

template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, float, float*);
template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, double,
                                         double*);
template std::string ColumnDecoder::flat(const Leaf&, std::span<const char>,
                                         const PageReader::Limits&, const RowRange&, std::int64_t,
                                         std::int64_t*);

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
  std::size_t behind = 0;
  while (left.rows > 0) {
    Page page;
    if (auto problem = next_page<std::int64_t>(leaf, reader, page); !problem.empty())
      return problem;
    const RowRange wanted = take_rows(page.num_values, left);
    behind = page.num_values - wanted.skipped - wanted.rows;
    if (wanted.rows == 0) continue;
    const std::size_t count = out.count;
    const std::size_t first = levels_.present_before(wanted.skipped);
    const std::size_t ids = levels_.present_before(wanted.skipped + wanted.rows) - first;
    if (auto problem = append_ids(leaf, page, first, ids, out); !problem.empty()) return problem;
    if (ids != wanted.rows) make_jagged(out);
    if (out.jagged) write_flat_ends(levels_, wanted, count, out.offsets + out.rows + 1);
    out.rows += wanted.rows;
  }
  return check_end(range, behind, reader);
}

std::string ColumnDecoder::sparse(const Leaf& leaf, std::span<const char> pages,
                                  const PageReader::Limits& limits, const RowRange& range,
                                  IdSink& out) {
  values<std::int64_t>().known = 0;
  PageReader reader(pages, limits, unpacked_);
  return leaf.is_list() ? list_ids(leaf, reader, range, out) : flat_ids(leaf, reader, range, out);
}

}  // namespace forebay::parquet
