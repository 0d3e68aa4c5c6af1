#include "actors/format/parquet/page_levels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "actors/format/parquet/encoding/rle_reader.h"

namespace forebay::parquet {
namespace {

/// Reads `count` numbers of at most `most`. Returns whether they are there and none is larger.
bool read_bytes(RleReader& reader, std::size_t count, std::uint8_t most, std::uint8_t* out) {
  std::array<std::uint32_t, 1024> some;  // NOLINT: written before it is read.
  std::uint32_t largest = 0;
  for (std::size_t done = 0; done < count;) {
    std::uint32_t value = 0;
    std::size_t taken = reader.take_equal(count - done, value);
    if (taken > 0) {
      std::memset(out + done, static_cast<int>(value), taken);
      largest = std::max(largest, value);
    } else {
      taken = std::min(some.size(), count - done);
      if (!reader.read(std::span(some).first(taken))) return false;
      for (std::size_t i = 0; i < taken; ++i) {
        largest = std::max(largest, some[i]);
        out[done + i] = static_cast<std::uint8_t>(some[i]);
      }
    }
    done += taken;
  }
  return largest <= most;
}

/// Splits the levels, which have their size before them, off the start of `bytes`.
std::string split_levels(std::int32_t encoding, std::span<const char>& bytes,
                         std::span<const char>& levels) {
  if (encoding == static_cast<std::int32_t>(Encoding::kBitPacked))
    return "levels in the deprecated encoding BIT_PACKED; write the file anew";
  if (encoding != static_cast<std::int32_t>(Encoding::kRle))
    return "levels in the unknown encoding " + std::to_string(encoding);
  std::uint32_t size = 0;
  if (bytes.size() < sizeof(size)) return "the levels of a page end early";
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes = bytes.subspan(sizeof(size));
  if (size > bytes.size()) return "the levels of a page end early";
  levels = bytes.first(size);
  bytes = bytes.subspan(size);
  return "";
}

}  // namespace

std::string PageLevels::take(const Page& page, bool repetition, std::uint8_t most,
                             Scratch<std::uint8_t>& out, bool& equal) {
  equal = most == 0;
  if (most == 0) return "";
  std::span<const char> levels = repetition ? page.repetition : page.definition;
  if (!page.has_levels) {
    const std::int32_t encoding = repetition ? page.repetition_encoding : page.definition_encoding;
    if (auto problem = split_levels(encoding, values_, levels); !problem.empty()) return problem;
  }
  RleReader reader(levels, static_cast<unsigned>(std::bit_width(most)), unpack_);
  if (!repetition && reader.skip_equal(most, page.num_values)) {
    equal = true;
    return "";
  }
  std::uint8_t* const to = out.of(page.num_values);
  const bool sound = most == 1 ? reader.read_bits({to, page.num_values})
                               : read_bytes(reader, page.num_values, most, to);
  return sound ? "" : "the levels of a page are not sound";
}

std::string PageLevels::read(const Leaf& leaf, const Page& page) {
  values_ = page.values;
  bool equal = false;
  if (auto problem = take(page, true, leaf.most_repetition, repetition_, equal); !problem.empty())
    return problem;
  if (auto problem = take(page, false, leaf.most_definition, definition_, equal); !problem.empty())
    return problem;
  count_ = page.num_values;
  most_ = leaf.most_definition;
  present_ = count_;
  if (!equal)
    present_ = static_cast<std::size_t>(std::count(definitions(), definitions() + count_, most_));
  return "";
}

}  // namespace forebay::parquet
