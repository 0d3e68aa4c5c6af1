#include "core/data/digest.h"

// Allows a state on the stack; the dispatching calls use the widest vectors of the processor.
#define XXH_STATIC_LINKING_ONLY  // NOLINT
#include <array>
#include <string_view>

#include <xxh_x86dispatch.h>

#include "core/base/text/hex.h"

namespace forebay {
namespace {

Digest digest_of(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

}  // namespace

Digest Digest::of(const void* data, std::size_t size) {
  return digest_of(XXH3_128bits(data, size));
}

Digest Digest::of_parts(std::initializer_list<Part> parts) {
  return of_written([&parts](const auto& add) {
    for (const Part& part : parts) add(part);
  });
}

Digest Digest::of_written(
    const std::function<void(const std::function<void(const Part&)>& add)>& write) {
  alignas(64) XXH3_state_t state;
  XXH3_128bits_reset(&state);
  write([&state](const Part& part) { XXH3_128bits_update(&state, part.data, part.size); });
  return digest_of(XXH3_128bits_digest(&state));
}

Digest Digest::then(const Digest& next) const {
  const std::array<std::uint64_t, 4> words{low, high, next.low, next.high};
  return of(words.data(), sizeof words);
}

std::string Digest::hex() const { return hex_digits(high) + hex_digits(low); }

bool Digest::parse(const std::string& hex, Digest& out) {
  if (hex.size() != 32) return false;
  const auto high = parse_hex(std::string_view(hex).substr(0, 16));
  const auto low = parse_hex(std::string_view(hex).substr(16));
  if (!high || !low) return false;
  out = {.high = *high, .low = *low};
  return true;
}

}  // namespace forebay
