#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "actors/format/parquet/encoding/bit_unpack.h"

namespace forebay::parquet {

/// Reads the hybrid of run lengths and packed bits (parquet-format's Encodings.md, "RLE = 3") that
/// encodes levels, dictionary indices and booleans.
///
/// Owns nothing. The bytes are untrusted; kUnpackSlack readable bytes follow them.
class RleReader {
 public:
  RleReader() = default;
  /// The numbers have `width` bits each, 0 to 32.
  RleReader(std::span<const char> bytes, unsigned width, UnpackBits unpack = &unpack_bits)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), width_(width), unpack_(unpack) {}

  /// Fills `out` with the next numbers. Returns false if there are fewer, or a run is not sound.
  bool read(std::span<std::uint32_t> out);

  /// The same for numbers of one bit each, as bytes.
  bool read_bits(std::span<std::uint8_t> out);

  /// Consumes at most `most` numbers that one run says are equal: returns how many, and `value`.
  /// 0 if the next numbers are packed or there are no more.
  std::size_t take_equal(std::size_t most, std::uint32_t& value);

  /// Consumes the next `count` numbers and returns true if one run says that all of them are
  /// `value`; consumes nothing otherwise.
  bool skip_equal(std::uint32_t value, std::size_t count);

 private:
  bool next_run();
  /// Fills `out` run by run; `read_packed(part)` reads packed numbers.
  template <class Number, class ReadPacked>
  bool read_runs(std::span<Number> out, const ReadPacked& read_packed);
  void read_packed(std::span<std::uint32_t> out);
  void read_group(std::span<std::uint32_t> out);
  void read_packed_bits(std::span<std::uint8_t> out);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  unsigned width_ = 0;
  UnpackBits unpack_ = &unpack_bits;
  std::size_t equal_ = 0;     // numbers left of a run of equal ones
  std::uint32_t value_ = 0;   // their value
  std::size_t packed_ = 0;    // numbers left of a run of packed ones
  std::size_t in_group_ = 0;  // numbers consumed of the group of eight at at_
};

}  // namespace forebay::parquet
