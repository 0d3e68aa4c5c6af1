#include "actors/format/parquet/page_codec.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

namespace forebay::parquet {
namespace {

struct CodecName {
  Codec codec;
  std::string_view name;
};
struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

constexpr std::array kNames = {
    CodecName{Codec::kNone, "UNCOMPRESSED"}, CodecName{Codec::kSnappy, "SNAPPY"},
    CodecName{Codec::kGzip, "GZIP"},         CodecName{Codec::kBrotli, "BROTLI"},
    CodecName{Codec::kLz4, "LZ4"},           CodecName{Codec::kZstd, "ZSTD"},
    CodecName{Codec::kLz4Raw, "LZ4_RAW"}};

bool copy(std::span<const char> in, std::span<char> out) {
  if (in.size() != out.size()) return false;
  if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
  return true;
}

bool snappy_page(std::span<const char> in, std::span<char> out) {
  std::size_t size = 0;
  return snappy::GetUncompressedLength(in.data(), in.size(), &size) && size == out.size() &&
         snappy::RawUncompress(in.data(), in.size(), out.data());
}

/// Members of a gzip file may follow each other; all of them are the page.
bool gzip_page(std::span<const char> in, std::span<char> out) {
  constexpr int kGzipOrZlib = 32 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ending(&stream, &inflateEnd);
  stream.next_in = reinterpret_cast<const Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int result = inflate(&stream, Z_FINISH);
  while (result == Z_STREAM_END && stream.avail_in > 0) {
    if (inflateReset(&stream) != Z_OK) return false;
    result = inflate(&stream, Z_FINISH);
  }
  return result == Z_STREAM_END && stream.avail_out == 0;
}

bool brotli_page(std::span<const char> in, std::span<char> out) {
  std::size_t size = out.size();
  return BrotliDecoderDecompress(in.size(), reinterpret_cast<const std::uint8_t*>(in.data()), &size,
                                 reinterpret_cast<std::uint8_t*>(out.data())) ==
             BROTLI_DECODER_RESULT_SUCCESS &&
         size == out.size();
}

bool lz4_block(std::span<const char> in, std::span<char> out) {
  const int size = LZ4_decompress_safe(in.data(), out.data(), static_cast<int>(in.size()),
                                       static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

std::uint32_t big_endian(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return __builtin_bswap32(value);
}

/// Hadoop's frames: the size of the block once decompressed, its size here, the block.
bool hadoop_lz4(std::span<const char> in, std::span<char> out) {
  constexpr std::size_t kHeader = 8;
  while (in.size() >= kHeader) {
    const std::size_t plain = big_endian(in.data());
    const std::size_t packed = big_endian(in.data() + 4);
    in = in.subspan(kHeader);
    if (packed > in.size() || plain > out.size()) return false;
    if (!lz4_block(in.first(packed), out.first(plain))) return false;
    in = in.subspan(packed);
    out = out.subspan(plain);
  }
  return in.empty() && out.empty();
}

}  // namespace

std::optional<Codec> codec_of(std::int32_t number) {
  for (const CodecName& known : kNames) {
    if (static_cast<std::int32_t>(known.codec) == number) return known.codec;
  }
  return std::nullopt;
}

std::string_view name_of(Codec codec) {
  for (const CodecName& known : kNames) {
    if (known.codec == codec) return known.name;
  }
  return "";
}

bool decompress_page(Codec codec, std::span<const char> in, std::span<char> out) {
  // The libraries count in int; the format's own sizes are 32-bit too.
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (in.size() > kMost || out.size() > kMost) return false;
  switch (codec) {
    case Codec::kNone:
      return copy(in, out);
    case Codec::kSnappy:
      return snappy_page(in, out);
    case Codec::kGzip:
      return gzip_page(in, out);
    case Codec::kBrotli:
      return brotli_page(in, out);
    case Codec::kLz4:
      return hadoop_lz4(in, out) || lz4_block(in, out);
    case Codec::kLz4Raw:
      return lz4_block(in, out);
    case Codec::kZstd:
      break;
  }
  // A context takes some 100 KB to make: each thread keeps one.
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), in.data(), in.size());
  return ZSTD_isError(size) == 0 && size == out.size();
}

}  // namespace forebay::parquet
