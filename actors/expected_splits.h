#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/stage/split.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The splits that were issued and have not come: each is taken once, whoever brings it first.
/// Bounded by the window. Any thread.
class ExpectedSplits {
 public:
  void add(const SplitId& id) {
    serial_([&] { ids_.emplace(id.number, id); });
  }

  /// Whether this one is still to come.
  bool contains(std::uint64_t number) const {
    return serial_([&] { return ids_.contains(number); });
  }

  /// All that are still to come, in no order.
  std::vector<SplitId> all() const {
    return serial_([&] {
      std::vector<SplitId> ids;
      ids.reserve(ids_.size());
      for (const auto& [number, id] : ids_) ids.push_back(id);
      return ids;
    });
  }

  /// As it was issued, for the first who brings it; nothing for all others.
  [[nodiscard]] std::optional<SplitId> take(std::uint64_t number) {
    return serial_([&]() -> std::optional<SplitId> {
      auto node = ids_.extract(number);
      if (node.empty()) return std::nullopt;
      return node.mapped();
    });
  }

 private:
  const Synchronized<> serial_{};
  std::unordered_map<std::uint64_t, SplitId> ids_;
};

}  // namespace forebay
