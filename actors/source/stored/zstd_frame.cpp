#include "actors/source/stored/zstd_frame.h"

#include <array>

namespace forebay {
namespace {

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;

/// Reads little-endian numbers from a header; zeros past its end.
class Header {
 public:
  explicit Header(std::span<const char> bytes) : bytes_(bytes) {}

  std::uint64_t take(std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (at_ + i < bytes_.size()) {
        number |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
      }
    }
    at_ += size;
    return number;
  }
  bool was_whole() const { return at_ <= bytes_.size(); }

 private:
  const std::span<const char> bytes_;
  std::size_t at_ = 0;
};

std::uint64_t window_of(std::uint64_t descriptor) {
  const std::uint64_t base = std::uint64_t{1} << (10 + (descriptor >> 3));
  return base + base / 8 * (descriptor & 7);
}

}  // namespace

std::optional<ZstdFrame> ZstdFrame::read(std::span<const char> head) {
  static constexpr std::array<std::size_t, 4> kDictionaryBytes = {0, 1, 2, 4};
  static constexpr std::array<std::size_t, 4> kContentBytes = {0, 2, 4, 8};
  Header header(head);
  if (header.take(4) != kZstdMagic) return std::nullopt;
  const std::uint64_t flags = header.take(1);
  const bool one_segment = (flags & 0x20) != 0;
  ZstdFrame frame;
  if (!one_segment) frame.window = window_of(header.take(1));
  header.take(kDictionaryBytes[flags & 3]);
  std::size_t size = kContentBytes[flags >> 6];
  if (size == 0 && one_segment) size = 1;
  if (size > 0) frame.content = header.take(size) + (size == 2 ? 256 : 0);
  if (one_segment) frame.window = frame.content;
  if (!header.was_whole()) return std::nullopt;
  return frame;
}

}  // namespace forebay
