#include "core/base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/base/crc32c_folding.h"

namespace forebay {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ ((value & 1) != 0 ? kCrc32cPolynomial : 0);
    table[i] = value;
  }
  return table;
}

constexpr auto kTable = make_table();

std::uint32_t by_table(std::span<const char> bytes, std::uint32_t state) {
  for (const char byte : bytes) {
    state = (state >> 8) ^ kTable[(state ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return state;
}

#if defined(__x86_64__)
/// A linear map of CRC states, one column for each bit of the state. Appending zeros is such a map.
using Columns = std::array<std::uint32_t, 32>;

constexpr std::uint32_t times(const Columns& columns, std::uint32_t state) {
  std::uint32_t sum = 0;
  for (std::size_t bit = 0; bit < columns.size(); ++bit) {
    if ((state >> bit & 1) != 0) sum ^= columns[bit];
  }
  return sum;
}

/// The map for `bytes` appended zero bytes; `bytes` is a power of two.
constexpr Columns zeros(std::size_t bytes) {
  Columns columns{kCrc32cPolynomial};  // the map for one appended zero bit
  for (std::size_t bit = 1; bit < columns.size(); ++bit) columns[bit] = 1U << (bit - 1);
  for (int doubled = std::countr_zero(8 * bytes); doubled > 0; --doubled) {
    const Columns half = columns;
    for (std::uint32_t& column : columns) column = times(half, column);
  }
  return columns;
}

/// zeros(kBytes) as lookup tables, one for each byte of the state.
template <std::size_t kBytes>
class Shift {
 public:
  constexpr Shift() {
    const Columns columns = zeros(kBytes);
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      for (std::size_t place = 0; place < 4; ++place) {
        by_byte_[place][byte] = times(columns, byte << (8 * place));
      }
    }
  }
  std::uint32_t operator()(std::uint32_t state) const {
    return by_byte_[0][state & 0xff] ^ by_byte_[1][state >> 8 & 0xff] ^
           by_byte_[2][state >> 16 & 0xff] ^ by_byte_[3][state >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> by_byte_{};
};

template <std::size_t kBytes>
constexpr Shift<kBytes> kShift;

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Consumes 3 * kBytes at a time as three interleaved streams: the CRC instruction has a latency of
/// three cycles but can start in every cycle.
template <std::size_t kBytes>
__attribute__((target("sse4.2"))) std::uint32_t by_three(std::span<const char>& bytes,
                                                         std::uint32_t state) {
  for (; bytes.size() >= 3 * kBytes; bytes = bytes.subspan(3 * kBytes)) {
    std::uint64_t first = state;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (const char* at = bytes.data(); at < bytes.data() + kBytes; at += sizeof(std::uint64_t)) {
      first = __builtin_ia32_crc32di(first, word_at(at));
      second = __builtin_ia32_crc32di(second, word_at(at + kBytes));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kBytes));
    }
    state = kShift<kBytes>(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    state = kShift<kBytes>(state) ^ static_cast<std::uint32_t>(third);
  }
  return state;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const char> bytes,
                                                               std::uint32_t state) {
  state = by_three<4096>(bytes, state);
  state = by_three<256>(bytes, state);
  std::uint64_t wide = state;
  for (; bytes.size() >= sizeof wide; bytes = bytes.subspan(sizeof wide)) {
    wide = __builtin_ia32_crc32di(wide, word_at(bytes.data()));
  }
  state = static_cast<std::uint32_t>(wide);
  for (const char byte : bytes) {
    state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(byte));
  }
  return state;
}
#endif

}  // namespace

bool has_crc32c(Crc32cMethod method) {
#if defined(__x86_64__)
  switch (method) {
    case Crc32cMethod::kTable:
      return true;
    case Crc32cMethod::kInstruction:
      return __builtin_cpu_supports("sse4.2");
    case Crc32cMethod::kFolding:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  }
#endif
  return method == Crc32cMethod::kTable;
}

std::uint32_t crc32c_by(Crc32cMethod method, std::span<const char> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  switch (method) {
    case Crc32cMethod::kTable:
      break;
    case Crc32cMethod::kInstruction:
      return ~by_instruction(bytes, ~before);
    case Crc32cMethod::kFolding: {
      std::uint32_t state = ~before;
      if (bytes.size() >= kLeastFolded) state = fold_crc32c(bytes, state);
      return ~by_instruction(bytes, state);
    }
  }
#endif
  return ~by_table(bytes, ~before);
}

std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before) {
  for (const auto method : {Crc32cMethod::kFolding, Crc32cMethod::kInstruction}) {
    if (has_crc32c(method)) return crc32c_by(method, bytes, before);
  }
  return crc32c_by(Crc32cMethod::kTable, bytes, before);
}

}  // namespace forebay
