#include "actors/format/npy/npy_header.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/format/raw_split.h"
#include "core/base/text/number.h"

namespace forebay::npy {
namespace {

using namespace std::literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(Code::kCorrupt, "no .npy array, or a damaged one: " + what);
}

// Reads the dictionary of a header: a Python literal of strings, booleans and tuples of integers.
class Literal {
 public:
  explicit Literal(std::string_view text) : left_(text) {}

  bool take(char wanted) {
    skip_spaces();
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool at(char wanted) {
    skip_spaces();
    return left_.starts_with(wanted);
  }
  std::optional<std::string_view> string() {
    const char quote = at('"') ? '"' : '\'';
    if (!take(quote)) return std::nullopt;
    const std::size_t end = left_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return value;
  }
  std::optional<bool> boolean() {
    if (word("True")) return true;
    if (word("False")) return false;
    return std::nullopt;
  }
  std::optional<std::vector<std::uint64_t>> tuple() {
    if (!take('(')) return std::nullopt;
    std::vector<std::uint64_t> numbers;
    while (!take(')')) {
      const auto number = whole_number();
      if (!number || numbers.size() == kMostDimensions) return std::nullopt;
      numbers.push_back(*number);
      if (!take(',') && !at(')')) return std::nullopt;
    }
    return numbers;
  }
  bool ended() {
    skip_spaces();
    return left_.empty();
  }

 private:
  static constexpr std::size_t kMostDimensions = 64;  // NumPy's limit

  void skip_spaces() {
    const std::size_t spaces = left_.find_first_not_of(" \t\n\r");
    left_.remove_prefix(std::min(spaces, left_.size()));
  }
  bool word(std::string_view wanted) {
    skip_spaces();
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(wanted.size());
    return true;
  }
  std::optional<std::uint64_t> whole_number() {
    skip_spaces();
    const auto number = take_number(left_);
    if (number && left_.starts_with('L'))
      left_.remove_prefix(1);  // Python 2 wrote long integers so.
    return number;
  }

  std::string_view left_;
};

struct Fields {
  std::optional<std::string_view> type;
  std::optional<bool> by_column;
  std::optional<std::vector<std::uint64_t>> shape;
};

Result<Fields> parse_fields(std::string_view text) {
  Literal in(text);
  Fields fields;
  if (!in.take('{')) return damaged("its header is no dictionary");
  while (!in.take('}')) {
    const auto key = in.string();
    if (!key || !in.take(':')) return damaged("its header is no dictionary");
    if (*key == "descr" && in.at('[')) {
      return fail(Code::kInvalid,
                  "it has rows of several fields (a structured array), which are not "
                  "read; save one array of numbers");
    }
    if (*key == "descr")
      fields.type = in.string();
    else if (*key == "fortran_order")
      fields.by_column = in.boolean();
    else if (*key == "shape")
      fields.shape = in.tuple();
    else
      return damaged("its header has the unknown key " + quoted_text(*key));
    if (!in.take(',') && !in.at('}')) return damaged("its header is no dictionary");
  }
  if (!in.ended() || !fields.type || !fields.by_column || !fields.shape) {
    return damaged("its header lacks descr, fortran_order or shape, or has something else");
  }
  return fields;
}

Result<ElementType> type_of(std::string_view text) {
  const auto refuse = [text](const std::string& why) {
    return fail(Code::kInvalid, "its values have the type " + quoted_text(text) + ", " + why);
  };
  constexpr std::string_view kReadable =
      "which is not read; save int8 to int64, uint8 to uint64, float16 to float64 or bool";
  if (text.size() != 3) return refuse(std::string(kReadable));
  if (text[0] == '>') {
    return refuse(
        "which is big-endian and not read; save array.astype(array.dtype.newbyteorder(\"<\"))");
  }
  ElementType type{.kind = {}, .bytes = static_cast<std::uint8_t>(text[2] - '0')};
  using Kind = ElementType::Kind;
  switch (text[1]) {
    case 'i':
      type.kind = Kind::kSigned;
      break;
    case 'u':
      type.kind = Kind::kUnsigned;
      break;
    case 'f':
      type.kind = Kind::kFloat;
      break;
    case 'b':
      type.kind = Kind::kBoolean;
      break;
    default:
      return refuse(std::string(kReadable));
  }
  const bool has_order = text[0] == '<' || (text[0] == '|' && type.bytes == 1);
  if (!has_order || !type.is_sound()) return refuse(std::string(kReadable));
  return type;
}

// Checks the shape against the bytes that there are, so that no product of its numbers overflows.
Status set_shape(const std::vector<std::uint64_t>& shape, std::uint64_t bytes,
                 ArrayHeader& header) {
  if (shape.empty() || shape.size() > 2) {
    return fail(Code::kInvalid, "it has " + std::to_string(shape.size()) +
                                    " dimensions; an array of rows has 1 or 2");
  }
  const std::uint64_t columns = shape.size() == 2 ? shape[1] : 1;
  if (columns > kMostColumns) {
    return fail(Code::kInvalid, "it has " + std::to_string(columns) + " columns; at most " +
                                    std::to_string(kMostColumns) + " are read");
  }
  header.rows = shape[0];
  header.columns = static_cast<std::uint32_t>(columns);
  if (header.columns == 1) header.by_column = false;
  const std::uint64_t data = bytes - header.data_start;
  std::uint64_t wanted = 0;
  const bool overflows = __builtin_mul_overflow(header.rows, header.row_bytes(), &wanted);
  if (overflows || wanted != data) {
    return damaged("its shape needs " + (overflows ? "far more" : std::to_string(wanted)) +
                   " bytes of values, and there are " + std::to_string(data));
  }
  return {};
}

struct HeaderText {
  std::uint32_t start = 0;
  std::uint32_t bytes = 0;
};

Result<HeaderText> find_text(std::string_view start) {
  constexpr std::size_t kVersion = 6;
  constexpr std::size_t kLength = 8;
  if (!start.starts_with(kMagic) || start.size() < kLength + 4)
    return damaged("its first bytes are others");
  const char version = start[kVersion];
  if (version < 1 || version > 3) {
    return fail(Code::kInvalid, "it is of version " +
                                    std::to_string(static_cast<unsigned char>(version)) +
                                    " of NumPy's format; 1 to 3 are read");
  }
  HeaderText text{.start = version == 1 ? 10U : 12U};
  std::memcpy(&text.bytes, start.data() + kLength, text.start - kLength);
  if (text.bytes > kMostHeader - text.start) {
    return damaged("its header of " + std::to_string(text.bytes) +
                   " bytes is longer than one of numbers is");
  }
  if (text.bytes > start.size() - text.start) return damaged("it ends within its header");
  return text;
}

}  // namespace

std::string ElementType::name() const {
  const std::string bits = std::to_string(bytes * 8);
  switch (kind) {
    case Kind::kSigned:
      return "int" + bits;
    case Kind::kUnsigned:
      return "uint" + bits;
    case Kind::kFloat:
      return "float" + bits;
    default:
      return "bool";
  }
}

bool ElementType::is_sound() const {
  if (kind > Kind::kBoolean) return false;
  if (bytes == 1) return kind != Kind::kFloat;
  return (bytes == 2 || bytes == 4 || bytes == 8) && kind != Kind::kBoolean;
}

Result<ArrayHeader> parse_array_header(std::span<const char> start, std::uint64_t bytes) {
  const std::string_view view(start.data(), start.size());
  auto text = find_text(view);
  if (!text) return pass(text);
  auto fields = parse_fields(view.substr(text->start, text->bytes));
  if (!fields) return pass(fields);
  auto type = type_of(*fields->type);
  if (!type) return pass(type);
  ArrayHeader header{
      .type = *type, .by_column = *fields->by_column, .data_start = text->start + text->bytes};
  if (auto status = set_shape(*fields->shape, bytes, header); !status) return pass(status);
  return header;
}

}  // namespace forebay::npy
