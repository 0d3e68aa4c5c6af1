#include "actors/source/index/file_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/base/varint.h"

namespace forebay {
namespace {

constexpr std::string_view kMagic = "FBINDEX3";
constexpr std::string_view kMagicOfAll =
    kMagic.substr(0, kMagic.size() - 1);  // the last character is the version
constexpr std::size_t kHeader = 24;       // magic and digest
constexpr std::uint64_t kMostWindow = 64 << 10;
static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

class Encoder {
 public:
  void word(std::uint64_t value) { raw(value); }
  void half(std::uint32_t value) { raw(value); }
  void digest(const Digest& value) {
    word(value.low);
    word(value.high);
  }
  void number(std::uint64_t value) { append_varint(value, out_); }
  void text(std::string_view value) { out_.insert(out_.end(), value.begin(), value.end()); }
  std::vector<char> take() && { return std::move(out_); }

 private:
  template <class Number>
  void raw(Number value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof value>>(value);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  std::vector<char> out_;
};

// Reads zeros past the end; sound() returns false from then on.
class Decoder {
 public:
  explicit Decoder(std::span<const char> in) : in_(in) {}

  std::uint64_t word() { return raw<std::uint64_t>(); }
  std::uint32_t half() { return raw<std::uint32_t>(); }
  Digest digest() {
    const std::uint64_t low = word();
    return {.high = word(), .low = low};
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const char* at = in_.data();
    const bool whole = read_varint(at, in_.data() + in_.size(), value);
    in_ = in_.subspan(static_cast<std::size_t>(at - in_.data()));
    if (whole) return value;
    failed_ = true;
    return 0;
  }
  std::span<const char> take(std::uint64_t bytes) {
    if (bytes > in_.size()) {
      failed_ = true;
      in_ = {};
      return {};
    }
    const auto taken = in_.first(bytes);
    in_ = in_.subspan(bytes);
    return taken;
  }
  std::size_t left() const { return in_.size(); }
  bool sound() const { return !failed_; }

 private:
  template <class Number>
  Number raw() {
    Number value = 0;
    if (const auto bytes = take(sizeof value); !bytes.empty()) {
      std::memcpy(&value, bytes.data(), sizeof value);
    }
    return value;
  }

  std::span<const char> in_;
  bool failed_ = false;
};

void encode_blocks(Encoder& out, const std::vector<Block>& blocks) {
  Block last;
  for (const Block& block : blocks) {
    out.number(block.offset - last.offset);
    out.number(block.line - last.line - last.rows);
    out.number(block.rows);
    out.half(block.check);
    last = block;
  }
}

void encode_points(Encoder& out, const std::vector<RestartPoint>& points) {
  RestartPoint last;
  for (const RestartPoint& point : points) {
    out.number(point.out - last.out);
    out.number(point.in - last.in);
    out.number(static_cast<std::uint64_t>(point.kind) * 8 + point.bits);
    out.number(point.window_at);
    out.number(point.window_bytes);
    out.word(point.window_hash);
    last = point;
  }
}

// Adds without overflow: a growth too large for any file gives a value too large for any file.
std::uint64_t grown(std::uint64_t value, std::uint64_t growth) {
  return growth > kMostFileBytes ? ~std::uint64_t{0} : value + growth;
}

// Every row takes at least one byte, and so does every line before a block.
bool fits_before(const Block& last, std::uint64_t offset) {
  return last.rows <= offset - last.offset;
}

bool decode_blocks(Decoder& in, std::uint64_t count, FileIndex& index) {
  constexpr std::size_t kLeast = 7;  // bytes per block
  if (count > in.left() / kLeast) return false;
  index.blocks.reserve(count);
  const int shift = std::countr_zero(index.slot_bytes);
  Block last;
  std::uint64_t rows = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Block block;
    block.offset = grown(last.offset, in.number());
    block.line = grown(last.line + last.rows, in.number());
    const std::uint64_t block_rows = in.number();
    block.check = in.half();
    if (block.offset >= index.bytes || block.line == 0 || block.line > block.offset + 1)
      return false;
    if (block_rows == 0 || block_rows > index.slot_bytes) return false;
    if (i > 0 && block.offset >> shift <= last.offset >> shift) return false;
    if (i > 0 && !fits_before(last, block.offset)) return false;
    block.rows = static_cast<std::uint32_t>(block_rows);
    rows += block_rows;
    index.blocks.push_back(block);
    last = block;
  }
  return rows == index.rows && (count == 0 || fits_before(last, index.bytes));
}

bool decode_units(Decoder& in, std::uint64_t count, FileIndex& index) {
  constexpr std::size_t kLeast = 3;  // bytes per unit
  if (index.codec != Codec::kPlain || index.check != 0 || count > in.left() / kLeast) return false;
  index.units.reserve(count);
  std::uint64_t rows = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t unit_rows = in.number();
    const std::uint64_t bytes = in.number();
    const std::uint64_t decoded = in.number();
    if (unit_rows == 0 || unit_rows > std::numeric_limits<std::uint32_t>::max()) return false;
    if (bytes > kMostFileBytes || decoded > kMostFileBytes) return false;
    index.units.push_back({.bytes = bytes,
                           .decoded = decoded,
                           .first_row = rows,
                           .rows = static_cast<std::uint32_t>(unit_rows)});
    rows += unit_rows;
  }
  return rows == index.rows && rows <= kMostFileBytes;
}

// A frame begins at a whole byte and needs no window; only gzip has points inside a member.
bool fits_kind(const RestartPoint& point, Codec codec) {
  if (point.kind == RestartPoint::Kind::kInside) return codec == Codec::kGzip;
  return codec != Codec::kPlain && point.bits == 0 && point.window_bytes == 0;
}

bool decode_points(Decoder& in, std::uint64_t count, FileIndex& index) {
  constexpr std::size_t kLeast = 13;  // bytes per point
  if (count > in.left() / kLeast) return false;
  index.points.reserve(count);
  RestartPoint last;
  for (std::uint64_t i = 0; i < count; ++i) {
    RestartPoint point;
    point.out = grown(last.out, in.number());
    point.in = grown(last.in, in.number());
    const std::uint64_t kind = in.number();
    point.kind = static_cast<RestartPoint::Kind>(kind >> 3);
    point.bits = static_cast<std::uint8_t>(kind & 7);
    point.window_at = in.number();
    const std::uint64_t window_bytes = in.number();
    point.window_hash = in.word();
    if (point.out <= last.out || point.out > index.bytes || point.in <= last.in) return false;
    if (point.in > index.stamp.bytes || kind >= 16 || window_bytes > kMostWindow) return false;
    point.window_bytes = static_cast<std::uint32_t>(window_bytes);
    if (!fits_kind(point, index.codec)) return false;
    index.points.push_back(point);
    last = point;
  }
  return true;
}

bool decode(Decoder& in, FileIndex& index) {
  index.stamp.bytes = in.word();
  index.stamp.version = static_cast<std::int64_t>(in.word());
  const std::uint64_t codec = in.word();
  index.codec = static_cast<Codec>(codec);
  index.settings = in.digest();
  index.agreement = in.digest();
  index.bytes = in.word();
  index.rows = in.word();
  index.content = in.digest();
  const std::uint64_t check = in.word();
  index.check = static_cast<std::uint32_t>(check);
  index.slot_bytes = in.word();
  const std::uint64_t blocks = in.word();
  const std::uint64_t points = in.word();
  const auto path = in.take(in.word());
  index.path.assign(path.begin(), path.end());
  if (check > ~std::uint32_t{0}) return false;
  if (codec > static_cast<std::uint64_t>(Codec::kZstd) || index.bytes > kMostFileBytes)
    return false;
  if (index.codec == Codec::kPlain && index.bytes != index.stamp.bytes) return false;
  if (!index.has_units() && !std::has_single_bit(index.slot_bytes)) return false;
  if (index.slot_bytes > slot_rule::kCoarsest) return false;
  const bool whole =
      index.has_units() ? decode_units(in, blocks, index) : decode_blocks(in, blocks, index);
  return whole && decode_points(in, points, index) && in.sound() && in.left() == 0;
}

}  // namespace

std::uint64_t FileIndex::longest_span() const {
  std::uint64_t longest = 0;
  std::uint64_t last = 0;
  for (const RestartPoint& point : points) {
    longest = std::max(longest, point.out - last);
    last = point.out;
  }
  return std::max(longest, bytes - last);
}

std::uint64_t FileIndex::loaded_bytes() const {
  if (!has_units()) return bytes;
  std::uint64_t all = 0;
  for (const Unit& unit : units) all += unit.bytes;
  return all;
}

void FileIndex::coarsen(std::uint64_t slot) {
  if (slot <= slot_bytes || has_units()) return;
  BlockBuilder builder(slot_bytes, std::move(blocks));
  builder.coarsen(slot);
  slot_bytes = slot;
  blocks = std::move(builder).take();
  blocks.shrink_to_fit();
}

std::vector<char> encode_index(const FileIndex& index) {
  Encoder body;
  body.word(index.stamp.bytes);
  body.word(static_cast<std::uint64_t>(index.stamp.version));
  body.word(static_cast<std::uint64_t>(index.codec));
  body.digest(index.settings);
  body.digest(index.agreement);
  body.word(index.bytes);
  body.word(index.rows);
  body.digest(index.content);
  body.word(index.check);
  body.word(index.slot_bytes);
  body.word(index.num_blocks());
  body.word(index.points.size());
  body.word(index.path.size());
  body.text(index.path);
  encode_blocks(body, index.blocks);
  for (const Unit& unit : index.units) {
    body.number(unit.rows);
    body.number(unit.bytes);
    body.number(unit.decoded);
  }
  encode_points(body, index.points);
  const std::vector<char> bytes = std::move(body).take();
  Encoder out;
  out.text(kMagic);
  out.digest(Digest::of(bytes.data(), bytes.size()));
  out.text({bytes.data(), bytes.size()});
  return std::move(out).take();
}

Status check_index_head(std::span<const char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  if (text.size() >= kHeader && text.starts_with(kMagic)) return {};
  if (text.size() >= kHeader && text.starts_with(kMagicOfAll)) {
    return fail(Code::kInvalid, "an index of another version");
  }
  return fail(Code::kCorrupt, "not an index, or a damaged one");
}

Result<FileIndex> parse_index(std::span<const char> bytes) {
  const auto bad = [] { return fail(Code::kCorrupt, "not an index, or a damaged one"); };
  if (auto status = check_index_head(bytes); !status) return pass(status);
  Decoder header(bytes.subspan(kMagic.size(), kHeader - kMagic.size()));
  const auto body = bytes.subspan(kHeader);
  if (header.digest() != Digest::of(body.data(), body.size())) return bad();
  Decoder in(body);
  FileIndex index;
  if (!decode(in, index)) return bad();
  return index;
}

}  // namespace forebay
