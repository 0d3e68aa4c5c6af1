#pragma once

#include <compare>
#include <cstdint>
#include <tuple>

namespace forebay {

/// Names an object in the cluster.
struct ObjectKey {
  std::uint64_t process = 0;  ///< That put it, its owner.
  std::uint64_t number = 0;   ///< In that process.
  static auto fields(auto& self) { return std::tie(self.process, self.number); }
  auto operator<=>(const ObjectKey&) const = default;
};

/// What every reference to an object knows of it.
struct ObjectInfo {
  ObjectKey key;
  std::uint64_t size = 0;    ///< In bytes.
  std::uint32_t digest = 0;  ///< CRC-32C of them.
  static auto fields(auto& self) { return std::tie(self.key, self.size, self.digest); }
};

}  // namespace forebay
