#include "actors/format/parquet/raw_values.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "actors/format/parquet/encoding/delta_reader.h"
#include "actors/format/parquet/encoding/rle_reader.h"

namespace forebay::parquet {
namespace {

constexpr const char* kEndsEarly = "the values of a page end early";
constexpr const char* kUnsound = "the values of a page are not sound";
constexpr std::size_t kMostTextBytes = std::size_t{1} << 26;  // of values that share beginnings

using Bytes = std::span<const char>;

std::uint32_t little_endian(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

std::string plain_booleans(Bytes bytes, std::size_t count, RawValues& out) {
  if (bytes.size() < (count + 7) / 8) return kEndsEarly;
  out.bytes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.bytes[i] = static_cast<char>(static_cast<std::uint8_t>(bytes[i / 8]) >> i % 8 & 1);
  }
  out.fixed = out.bytes.data();
  return "";
}

std::string rle_booleans(Bytes bytes, std::size_t count, RawValues& out) {
  if (bytes.size() < 4) return kEndsEarly;
  const std::size_t size = little_endian(bytes.data());
  if (size > bytes.size() - 4) return kEndsEarly;
  RleReader reader(bytes.subspan(4, size), 1);
  out.bytes.resize(count);
  std::array<std::uint32_t, 256> some{};
  for (std::size_t at = 0; at < count; at += some.size()) {
    const std::size_t taken = std::min(some.size(), count - at);
    if (!reader.read(std::span(some).first(taken))) return kUnsound;
    std::ranges::transform(std::span(some).first(taken),
                           out.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                           [](std::uint32_t value) { return static_cast<char>(value); });
  }
  out.fixed = out.bytes.data();
  return "";
}

std::string plain_fixed(std::size_t size, Bytes bytes, std::size_t count, RawValues& out) {
  if (size == 0) return "values of no size";
  if (count > bytes.size() / size) return kEndsEarly;
  out.fixed = bytes.data();
  return "";
}

/// Byte i of every value, for each i in turn.
std::string split_bytes(std::size_t size, Bytes bytes, std::size_t count, RawValues& out) {
  if (size == 0) return "values of no size";
  if (count > bytes.size() / size) return kEndsEarly;
  out.bytes.resize(count * size);
  for (std::size_t byte = 0; byte < size; ++byte) {
    const char* const from = bytes.data() + byte * count;
    char* const to = out.bytes.data() + byte;
    for (std::size_t i = 0; i < count; ++i) to[i * size] = from[i];
  }
  out.fixed = out.bytes.data();
  return "";
}

std::string differences(std::size_t size, Bytes bytes, std::size_t count, RawValues& out) {
  DeltaReader reader(bytes);
  if (!reader.read(count, out.integers)) return kUnsound;
  if (size == sizeof(std::int64_t)) {
    out.fixed = reinterpret_cast<const char*>(out.integers.data());
    return "";
  }
  out.bytes.resize(count * size);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(out.bytes.data() + i * size, &out.integers[i], size);
  out.fixed = out.bytes.data();
  return "";
}

std::string plain_texts(Bytes bytes, std::size_t count, RawValues& out) {
  if (count > bytes.size() / 4) return kEndsEarly;
  out.texts.resize(count);
  for (std::string_view& text : out.texts) {
    if (bytes.size() < 4) return kEndsEarly;
    const std::size_t size = little_endian(bytes.data());
    if (size > bytes.size() - 4) return kEndsEarly;
    text = {bytes.data() + 4, size};
    bytes = bytes.subspan(4 + size);
  }
  return "";
}

/// Lengths as differences, then the bytes; moves `bytes` behind the lengths.
std::string lengths_of(Bytes& bytes, std::size_t count, std::vector<std::int64_t>& out) {
  DeltaReader reader(bytes);
  if (!reader.read(count, out)) return kUnsound;
  bytes = bytes.subspan(static_cast<std::size_t>(reader.end_of_numbers() - bytes.data()));
  return "";
}

std::string texts_by_length(Bytes bytes, std::size_t count, RawValues& out) {
  if (auto problem = lengths_of(bytes, count, out.lengths); !problem.empty()) return problem;
  out.texts.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = out.lengths[i];
    if (size < 0 || size > static_cast<std::int64_t>(bytes.size())) return kEndsEarly;
    out.texts[i] = {bytes.data(), static_cast<std::size_t>(size)};
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return "";
}

/// Each text is the start of the one before it and a rest of its own.
std::string texts_by_prefix(Bytes bytes, std::size_t count, RawValues& out) {
  if (auto problem = lengths_of(bytes, count, out.integers); !problem.empty()) return problem;
  if (auto problem = texts_by_length(bytes, count, out); !problem.empty()) return problem;
  std::size_t all = 0;
  std::size_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t prefix = out.integers[i];
    if (prefix < 0 || prefix > static_cast<std::int64_t>(before)) return kUnsound;
    before = static_cast<std::size_t>(prefix) + out.texts[i].size();
    all += before;
    if (all > kMostTextBytes) return "the values of a page are larger than any page";
  }
  out.bytes.resize(all);
  char* at = out.bytes.data();
  const char* last = at;
  for (std::size_t i = 0; i < count; ++i) {
    const auto prefix = static_cast<std::size_t>(out.integers[i]);
    const std::string_view rest = out.texts[i];
    std::memmove(at, last, prefix);
    std::ranges::copy(rest, at + prefix);
    out.texts[i] = {at, prefix + rest.size()};
    last = at;
    at += prefix + rest.size();
  }
  return "";
}

/// Values of fixed size that are written as texts, which then have one length.
std::string fixed_by_prefix(std::size_t size, Bytes bytes, std::size_t count, RawValues& out) {
  if (auto problem = texts_by_prefix(bytes, count, out); !problem.empty()) return problem;
  const bool equal =
      std::ranges::all_of(out.texts, [&](std::string_view text) { return text.size() == size; });
  if (!equal) return "a value has another length than its column";
  std::vector<char> values;
  values.reserve(out.texts.size() * size);
  for (const std::string_view text : out.texts)
    values.insert(values.end(), text.begin(), text.end());
  out.bytes = std::move(values);
  out.fixed = out.bytes.data();
  return "";
}

std::string plain(const Leaf& leaf, Bytes bytes, std::size_t count, RawValues& out) {
  if (leaf.physical == Physical::kBoolean) return plain_booleans(bytes, count, out);
  if (leaf.physical == Physical::kByteArray) return plain_texts(bytes, count, out);
  return plain_fixed(size_of_value(leaf), bytes, count, out);
}

}  // namespace

std::size_t size_of_value(const Leaf& leaf) {
  constexpr std::array<std::size_t, 8> kSizes = {1, 4, 8, 12, 4, 8, 0, 0};
  return leaf.physical == Physical::kFixedBytes ? leaf.bytes
                                                : kSizes[static_cast<std::size_t>(leaf.physical)];
}

std::string read_values(const Leaf& leaf, std::int32_t encoding, std::span<const char> bytes,
                        std::size_t count, RawValues& out) {
  const std::size_t size = size_of_value(leaf);
  const bool texts = leaf.physical == Physical::kByteArray;
  const bool whole = leaf.physical == Physical::kInt32 || leaf.physical == Physical::kInt64;
  if (encoding < 0 || encoding > static_cast<std::int32_t>(Encoding::kByteStreamSplit))
    return "an unknown encoding";
  switch (static_cast<Encoding>(encoding)) {
    case Encoding::kPlain:
      return plain(leaf, bytes, count, out);
    case Encoding::kRle:
      if (leaf.physical == Physical::kBoolean) return rle_booleans(bytes, count, out);
      break;
    case Encoding::kDeltaBinaryPacked:
      if (whole) return differences(size, bytes, count, out);
      break;
    case Encoding::kDeltaLengthByteArray:
      if (texts) return texts_by_length(bytes, count, out);
      break;
    case Encoding::kDeltaByteArray:
      if (texts) return texts_by_prefix(bytes, count, out);
      if (leaf.physical == Physical::kFixedBytes) return fixed_by_prefix(size, bytes, count, out);
      break;
    case Encoding::kByteStreamSplit:
      if (!texts && leaf.physical != Physical::kBoolean)
        return split_bytes(size, bytes, count, out);
      break;
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
    case Encoding::kBitPacked:
      break;
  }
  return "encoding " + std::to_string(encoding) + " does not fit values of type " + leaf.type;
}

}  // namespace forebay::parquet
