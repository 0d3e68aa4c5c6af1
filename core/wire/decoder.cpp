#include "core/wire/decoder.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace forebay {
namespace {

constexpr std::string_view kCut = "the bytes end too early";

}  // namespace

bool Decoder::refuse(std::string_view problem) {
  if (problem_.empty()) problem_ = problem;
  return false;
}

bool Decoder::in_field(std::size_t index) {
  path_ = path_.empty() ? std::to_string(index) : std::to_string(index) + "." + path_;
  return false;
}

Error Decoder::error(std::string_view what) const {
  std::string message(what);
  if (!path_.empty()) message += ": field " + path_;
  return {Code::kCorrupt, message + ": " + problem_};
}

template <class T>
bool Decoder::big_endian(T& out) {
  const std::byte* from = nullptr;
  if (!take(sizeof(T), from)) return false;
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, sizeof(T));
  out = static_cast<T>(__builtin_bswap64(bits) >> (64 - 8 * sizeof(T)));
  return true;
}

/// Reads a number of 1, 2, 4 or 8 bytes: 2 to the power of `power`.
bool Decoder::big_endian(unsigned power, std::uint64_t& out) {
  const auto widened = [&]<class T>(T value) {
    if (!big_endian(value)) return false;
    out = value;
    return true;
  };
  switch (power) {
    case 0:
      return widened(std::uint8_t{});
    case 1:
      return widened(std::uint16_t{});
    case 2:
      return widened(std::uint32_t{});
    default:
      return widened(std::uint64_t{});
  }
}

bool Decoder::boolean(bool& out) {
  const std::byte* mark = nullptr;
  if (!take(1, mark)) return false;
  if (*mark != std::byte{0xc2} && *mark != std::byte{0xc3}) return refuse("is no boolean");
  out = *mark == std::byte{0xc3};
  return true;
}

bool Decoder::whole_number(std::uint64_t& magnitude, bool& negative) {
  const std::byte* mark = nullptr;
  if (!take(1, mark)) return false;
  const auto kind = static_cast<unsigned>(*mark);
  negative = false;
  if (kind < 0x80) {
    magnitude = kind;
    return true;
  }
  if (kind >= 0xcc && kind <= 0xcf) return big_endian(kind - 0xcc, magnitude);
  // `magnitude` of a negative number is its 64-bit two's complement.
  const auto extend_sign = [&](unsigned bits) {
    const auto value = static_cast<std::int64_t>(magnitude << (64 - bits)) >> (64 - bits);
    negative = value < 0;
    magnitude = static_cast<std::uint64_t>(value);
    return true;
  };
  if (kind >= 0xd0 && kind <= 0xd3) {
    return big_endian(kind - 0xd0, magnitude) && extend_sign(8U << (kind - 0xd0));
  }
  magnitude = kind;
  return kind >= 0xe0 ? extend_sign(8) : refuse("is no whole number");
}

bool Decoder::long_number(std::uint64_t& out) {
  bool negative = false;
  if (!whole_number(out, negative)) return false;
  return !negative || refuse("is negative");
}

bool Decoder::number(std::int64_t& out) {
  std::uint64_t bits = 0;
  bool negative = false;
  if (!whole_number(bits, negative)) return false;
  if (!negative && bits > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return refuse("is above the largest number of 64 bits with a sign");
  }
  out = static_cast<std::int64_t>(bits);
  return true;
}

bool Decoder::number(double& out) {
  if (at_ == end_) return refuse(kCut);
  if (*at_ == std::byte{0xcb}) {
    ++at_;
    std::uint64_t bits = 0;
    if (!big_endian(bits)) return false;
    out = std::bit_cast<double>(bits);
    return true;
  }
  if (*at_ == std::byte{0xca}) {
    float narrow = 0;
    if (!number(narrow)) return false;
    out = narrow;
    return true;
  }
  std::uint64_t bits = 0;
  bool negative = false;
  if (!whole_number(bits, negative)) return refuse("is no number");
  out = negative ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  return true;
}

bool Decoder::number(float& out) {
  if (at_ == end_) return refuse(kCut);
  if (*at_ == std::byte{0xca}) {
    ++at_;
    std::uint32_t bits = 0;
    if (!big_endian(bits)) return false;
    out = std::bit_cast<float>(bits);
    return true;
  }
  if (*at_ == std::byte{0xcb}) return refuse("is a number of 64 bits where 32 are expected");
  double wide = 0;
  if (!number(wide)) return false;
  out = static_cast<float>(wide);
  return true;
}

bool Decoder::text(std::string_view& out) {
  const std::byte* mark = nullptr;
  if (!take(1, mark)) return false;
  const auto kind = static_cast<unsigned>(*mark);
  std::size_t size = kind & 0x1f;
  bool sized = (kind & 0xe0) == 0xa0;
  if (!sized) {
    if (kind < 0xd9 || kind > 0xdb) return refuse("is no text");
    sized = big_endian(kind - 0xd9, size);
  }
  const std::byte* from = nullptr;
  if (!sized || !take(size, from)) return false;
  out = {reinterpret_cast<const char*>(from), size};
  return true;
}

bool Decoder::bytes(std::span<const std::byte>& out) {
  const std::byte* mark = nullptr;
  if (!take(1, mark)) return false;
  const auto kind = static_cast<unsigned>(*mark);
  if (kind < 0xc4 || kind > 0xc6) return refuse("is no run of bytes");
  std::size_t size = 0;
  const std::byte* from = nullptr;
  if (!big_endian(kind - 0xc4, size) || !take(size, from)) return false;
  out = {from, size};
  return true;
}

bool Decoder::count_of(unsigned short_mark, unsigned mark, std::size_t bytes_each,
                       std::string_view kind, std::size_t& count) {
  const std::byte* found = nullptr;
  if (!take(1, found)) return false;
  const auto byte = static_cast<unsigned>(*found);
  if ((byte & 0xf0) == short_mark) {
    count = byte & 0x0f;
  } else if (byte == mark || byte == mark + 1) {
    if (!big_endian(byte == mark ? 1 : 2, count)) return false;
  } else {
    return refuse("is not " + std::string(kind));
  }
  if (count <= left() / bytes_each) return true;
  return refuse("is said to have " + std::to_string(count) + " values, but only " +
                std::to_string(left()) + " bytes follow");
}

bool Decoder::frames(Frames& out) {
  std::size_t values = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  if (!array(values)) return false;
  if (values != 2) return refuse("names no frames");
  if (!number(first) || !number(count)) return false;
  // Each frame is moved out only once, so a message cannot multiply the frames sent with it.
  if (first < next_frame_ || first > frames_.size() || count > frames_.size() - first) {
    return refuse("names " + std::to_string(count) + " frames from number " +
                  std::to_string(first) + ", but " + std::to_string(frames_.size()) + " came");
  }
  out.clear();
  out.reserve(count);
  for (Frame& frame : frames_.subspan(first, count)) out.push_back(std::move(frame));
  next_frame_ = first + count;
  return true;
}

bool Decoder::take_nil() {
  if (at_ == end_ || *at_ != std::byte{0xc0}) return false;
  ++at_;
  return true;
}

bool Decoder::actor(std::shared_ptr<void>& out) {
  out = nullptr;
  if (take_nil()) return true;
  std::string_view name;
  if (!text(name)) return false;
  if (context_ == nullptr) return refuse("names an actor where none can be reached");
  Result<std::shared_ptr<void>> found = context_->import_actor(name);
  if (!found) return refuse(found.error().message);
  out = std::move(*found);
  return true;
}

/// The number of payload bytes that follow `mark`, and the number of values that follow them.
bool Decoder::value_size(unsigned mark, std::size_t& bytes, std::size_t& values) {
  bytes = values = 0;
  if (mark < 0x80 || mark >= 0xe0) return true;
  if (mark < 0x90) return values = 2 * std::size_t{mark & 0x0f}, true;
  if (mark < 0xa0) return values = mark & 0x0f, true;
  if (mark < 0xc0) return bytes = mark & 0x1f, true;
  if (mark == 0xc0 || mark == 0xc2 || mark == 0xc3) return true;
  if (mark >= 0xc4 && mark <= 0xc6) return big_endian(mark - 0xc4, bytes);
  if (mark == 0xca || mark == 0xcb) return bytes = std::size_t{4} << (mark - 0xca), true;
  if (mark >= 0xcc && mark <= 0xd3) return bytes = std::size_t{1} << (mark & 3), true;
  if (mark >= 0xd9 && mark <= 0xdb) return big_endian(mark - 0xd9, bytes);
  if (mark < 0xdc) return refuse("is of a kind that is not used here");
  const bool is_map = mark >= 0xde;
  if (!big_endian(mark - (is_map ? 0xde : 0xdc) + 1, values)) return false;
  if (is_map) values *= 2;
  return true;
}

bool Decoder::skip() {
  // Counts open values instead of recursing, so memory use does not grow with the nesting depth.
  for (std::size_t open = 1; open > 0;) {
    const std::byte* mark = nullptr;
    std::size_t bytes = 0;
    std::size_t values = 0;
    if (!take(1, mark) || !value_size(static_cast<unsigned>(*mark), bytes, values) ||
        !take(bytes, mark)) {
      return false;
    }
    open += values;
    --open;
  }
  return true;
}

}  // namespace forebay
