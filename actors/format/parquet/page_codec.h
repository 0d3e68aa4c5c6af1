#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace forebay::parquet {

/// How the pages of a column chunk are compressed; the numbers are those of parquet.thrift.
enum class Codec : std::uint8_t {
  kNone = 0,
  kSnappy = 1,
  kGzip = 2,
  kBrotli = 4,
  kLz4 = 5,  ///< Deprecated: blocks as Hadoop frames them, or one raw block.
  kZstd = 6,
  kLz4Raw = 7,
};

/// Returns the codec with this number; nullopt for one that is unknown, such as LZO (3).
std::optional<Codec> codec_of(std::int32_t number);
std::string_view name_of(Codec codec);

/// Decompresses the whole of `in`; returns whether it is sound and gives exactly `out.size()`
/// bytes. Never writes past `out`, whatever `in` holds. Any thread may call it.
bool decompress_page(Codec codec, std::span<const char> in, std::span<char> out);

}  // namespace forebay::parquet
