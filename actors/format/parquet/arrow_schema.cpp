#include "actors/format/parquet/arrow_schema.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace forebay::parquet {
namespace {

constexpr unsigned kMostDepth = 32;           // fields in one another
constexpr std::size_t kMostFields = 100'000;  // tables may be shared, so bytes do not bound them
constexpr std::uint32_t kMostListSize = 65'536;

// Numbers of the union `Type` in Schema.fbs, and of the fields of its tables.
constexpr std::uint8_t kStruct = 13;
constexpr std::uint8_t kFixedSizeList = 16;
constexpr std::uint8_t kSchemaMessage = 1;

/// Decodes base64; stops at the first other character.
std::vector<char> from_base64(std::string_view text) {
  std::vector<char> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const char letter : text) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held));
  }
  return bytes;
}

/// A flatbuffer. Each read is checked: past the end it gives 0, which stands for "absent".
class Flat {
 public:
  explicit Flat(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T at(std::size_t position) const {
    T value = 0;
    if (position <= bytes_.size() && bytes_.size() - position >= sizeof(value))
      std::memcpy(&value, bytes_.data() + position, sizeof(value));
    return value;
  }
  /// Where the offset at `position` leads; 0 if nowhere.
  std::size_t follow(std::size_t position) const {
    const auto offset = at<std::uint32_t>(position);
    return offset == 0 || offset >= bytes_.size() - position ? 0 : position + offset;
  }
  /// Where field number `field` of a table is; 0 if the table lacks it.
  std::size_t field(std::size_t table, std::size_t field) const {
    const auto back = at<std::int32_t>(table);
    const auto vtable = static_cast<std::int64_t>(table) - back;
    if (vtable < 0 || static_cast<std::size_t>(vtable) >= bytes_.size()) return 0;
    const auto entries = static_cast<std::size_t>(vtable);
    if (4 + 2 * field + 2 > at<std::uint16_t>(entries)) return 0;
    const auto offset = at<std::uint16_t>(entries + 4 + 2 * field);
    return offset == 0 || offset >= bytes_.size() - table ? 0 : table + offset;
  }
  /// The table or vector that a field leads to; 0 if none.
  std::size_t child(std::size_t table, std::size_t number) const {
    const std::size_t position = field(table, number);
    return position == 0 ? 0 : follow(position);
  }
  /// The number of elements of a vector of offsets, at most as many as there is space for.
  std::size_t count(std::size_t vector) const {
    const std::size_t listed = vector == 0 ? 0 : at<std::uint32_t>(vector);
    return listed > bytes_.size() / 4 ? 0 : listed;
  }
  std::string_view text(std::size_t position) const {
    const std::size_t size = position == 0 ? 0 : at<std::uint32_t>(position);
    if (size == 0 || position + 4 > bytes_.size() || size > bytes_.size() - position - 4) return {};
    return bytes_.substr(position + 4, size);
  }

 private:
  std::string_view bytes_;
};

class FixedLists {
 public:
  explicit FixedLists(std::string_view flatbuffer) : flat_(flatbuffer) {}

  std::map<std::string, std::uint32_t> read() {
    const std::size_t message = flat_.follow(0);
    if (message == 0) return {};
    const std::size_t type = flat_.field(message, 1);
    if (type == 0 || flat_.at<std::uint8_t>(type) != kSchemaMessage) return {};
    read_fields(flat_.child(flat_.child(message, 2), 1), "", 0);
    return std::move(found_);
  }

 private:
  void read_fields(std::size_t fields, const std::string& above, unsigned depth) {
    if (depth == kMostDepth) return;
    for (std::size_t i = 0; i < flat_.count(fields) && ++seen_ <= kMostFields; ++i) {
      const std::size_t field = flat_.follow(fields + 4 + 4 * i);
      if (field == 0) return;
      const std::size_t type = flat_.field(field, 2);
      const auto kind = type == 0 ? std::uint8_t{0} : flat_.at<std::uint8_t>(type);
      const std::string name = above + std::string(flat_.text(flat_.child(field, 0)));
      if (kind == kStruct) read_fields(flat_.child(field, 5), name + ".", depth + 1);
      if (kind != kFixedSizeList) continue;
      const std::size_t size = flat_.field(flat_.child(field, 3), 0);
      const std::uint32_t items = size == 0 ? 0 : flat_.at<std::uint32_t>(size);
      if (items > 0 && items <= kMostListSize) found_.emplace(name, items);
    }
  }

  Flat flat_;
  std::size_t seen_ = 0;
  std::map<std::string, std::uint32_t> found_;
};

}  // namespace

std::map<std::string, std::uint32_t> fixed_lists_of(std::string_view encoded) {
  const std::vector<char> bytes = from_base64(encoded);
  std::string_view message(bytes.data(), bytes.size());
  // Newer writers put four bytes of ones before the message's size.
  constexpr std::string_view kMarker = "\xff\xff\xff\xff";
  if (message.starts_with(kMarker)) message.remove_prefix(kMarker.size());
  if (message.size() < 8) return {};
  return FixedLists(message.substr(4)).read();
}

}  // namespace forebay::parquet
