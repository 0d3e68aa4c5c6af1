#include "core/base/crc32c.h"

#include <array>
#include <cstring>

namespace forebay {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bits reversed

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
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
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const char> bytes,
                                                               std::uint32_t state) {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t wide = state;
  for (; left >= sizeof wide; at += sizeof wide, left -= sizeof wide) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; left > 0; ++at, --left) {
    state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(*at));
  }
  return state;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(bytes, ~before);
#endif
  return ~by_table(bytes, ~before);
}

}  // namespace forebay
