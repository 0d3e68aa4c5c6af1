#include "tests/actors/source/packed.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <zlib.h>
#include <zstd.h>

#include "core/base/random.h"

namespace forebay::test {
namespace {

template <class Pack>
std::string in_pieces(std::string_view content, std::size_t piece, Pack pack) {
  std::string packed;
  for (std::size_t at = 0; at < content.size(); at += piece) {
    packed += pack(content.substr(at, piece));
  }
  return packed;
}

}  // namespace

std::string gzip(std::string_view content) {
  z_stream deflater{};
  constexpr int kWithGzipHeader = 15 + 16;
  if (deflateInit2(&deflater, 1, Z_DEFLATED, kWithGzipHeader, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();
  }
  std::string packed(deflateBound(&deflater, content.size()), '\0');
  std::string input(content);
  deflater.next_in = reinterpret_cast<Bytef*>(input.data());
  deflater.avail_in = static_cast<uInt>(input.size());
  deflater.next_out = reinterpret_cast<Bytef*>(packed.data());
  deflater.avail_out = static_cast<uInt>(packed.size());
  deflate(&deflater, Z_FINISH);
  packed.resize(deflater.total_out);
  deflateEnd(&deflater);
  return packed;
}

std::string gzip_members(std::string_view content, std::size_t piece) {
  return in_pieces(content, piece, gzip);
}

std::string zstd(std::string_view content) {
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), 1));
  return packed;
}

std::string zstd_frames(std::string_view content, std::size_t piece) {
  return in_pieces(content, piece, zstd);
}

std::string with_window(const std::string& frame, int log) {
  // The header that zstd() writes: magic, flags, a window byte unless the frame is one segment, and
  // the content's size in 1 (one segment only), 2, 4 or 8 bytes.
  const auto flags = static_cast<unsigned char>(frame[4]);
  const bool one_segment = (flags & 0x20) != 0;
  const std::size_t size = flags >> 6 == 0 ? (one_segment ? 1 : 0) : std::size_t{1} << (flags >> 6);
  const std::string blocks = frame.substr(5 + (one_segment ? 0 : 1) + size);
  return frame.substr(0, 4) + '\0' + static_cast<char>((log - 10) << 3) + blocks;
}

std::string random_lines(std::uint64_t seed, std::size_t bytes) {
  static constexpr std::array<std::string_view, 8> kWords = {",",  ",1", ",68fd1e64", ",80e26c9b",
                                                             ",0", ",,", ",fb936136", ",7b4723c4"};
  Random random(seed);
  std::string text = "0,1\n";  // fixes the same number of columns for every file
  while (text.size() < bytes) {
    text += random.below(2) == 0 ? '0' : '1';
    for (std::uint32_t words = random.below(25); words > 0; --words) {
      text += random.below(4) == 0 ? ',' + std::to_string(random.below(100'000))
                                   : std::string(kWords[random.below(kWords.size())]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace forebay::test
