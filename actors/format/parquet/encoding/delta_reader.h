#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::parquet {

/// Reads integers in DELTA_BINARY_PACKED (parquet-format's Encodings.md, "DELTA_BINARY_PACKED =
/// 5").
///
/// Owns nothing. The bytes are untrusted; kUnpackSlack + 1 readable bytes follow them.
class DeltaReader {
 public:
  explicit DeltaReader(std::span<const char> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// Reads all numbers; overflow wraps around. Returns false, before it takes memory for them, if
  /// there are not exactly `count`, or if the bytes end early or hold an impossible number.
  bool read(std::size_t count, std::vector<std::int64_t>& out);

  /// Returns the first byte behind the numbers, after read().
  const char* end_of_numbers() const { return at_; }

 private:
  bool read_block(std::vector<std::int64_t>& out, std::size_t count);

  const char* at_;
  const char* end_;
  std::size_t miniblocks_ = 0;  // in a block
  std::size_t numbers_ = 0;     // in a miniblock
};

}  // namespace forebay::parquet
