#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "actors/stage/split.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The splits that were issued and have not arrived yet. Each split is taken once, by the first
/// node that delivers it. Bounded by the window. Any thread.
class ExpectedSplits {
 public:
  void add(const SplitId& id) {
    serial_([&] { ids_.emplace(id.number, id); });
  }

  /// Whether split `number` has not arrived yet.
  bool contains(std::uint64_t number) const {
    return serial_([&] { return ids_.contains(number); });
  }

  /// All splits that have not arrived yet, in no particular order.
  std::vector<SplitId> all() const {
    return serial_([&] {
      std::vector<SplitId> ids;
      ids.reserve(ids_.size());
      for (const auto& [number, id] : ids_) ids.push_back(id);
      return ids;
    });
  }

  /// Removes split `number` and returns it as it was issued; returns nothing if it was taken before
  /// or never issued.
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
