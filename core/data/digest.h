#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace forebay {

/// A 128-bit content hash (XXH3-128), the same on every machine.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const Digest&) const = default;

  struct Part {
    const void* data;
    std::size_t size;
  };

  static Digest of(const void* data, std::size_t size);
  /// The digest of the concatenated parts.
  static Digest of_parts(std::initializer_list<Part> parts);
  /// The digest of the concatenated parts that `write` hands to its argument.
  static Digest of_written(
      const std::function<void(const std::function<void(const Part&)>& add)>& write);
  /// The digest of this one followed by `next`: d(k) = XXH3-128(d(k-1), h(k)), CLI.md's chain.
  Digest then(const Digest& next) const;
  /// 32 lower-case hex digits.
  std::string hex() const;
  static bool parse(const std::string& hex, Digest& out);
};

}  // namespace forebay
