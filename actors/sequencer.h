#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "actors/order_spec.h"
#include "actors/stage/split.h"

namespace forebay {

/// Holds splits that arrive before they may be used.
///
/// In exact order a split may be used when all splits before it have been used; in arrival order,
/// when its epoch has begun and the split that an earlier run gave out in part has been used.
/// Bounded by the window, which each split's bytes are part of; belongs to one thread.
class Sequencer {
 public:
  /// `first` is the number of the first split to use. In arrival order it has to be the first one
  /// only if it `is_open`: some of its rows have been given out.
  Sequencer(OrderSpec::Mode mode, std::uint64_t first, bool is_open)
      : mode_(mode), next_(first), waits_for_first_(is_open) {}

  void add(Split split) {
    const std::uint64_t number = split.id.number;
    waiting_.emplace(number, std::move(split));
  }

  /// The next split that may be used while `epoch` is being given out.
  std::optional<Split> next(std::uint64_t epoch) {
    const bool by_number = mode_ == OrderSpec::Mode::kExact || waits_for_first_;
    const auto found = by_number ? waiting_.find(next_) : waiting_.begin();
    if (found == waiting_.end() || found->second.id.epoch != epoch) return std::nullopt;
    waits_for_first_ = false;
    ++next_;
    return std::move(waiting_.extract(found).mapped());
  }

 private:
  const OrderSpec::Mode mode_;
  std::uint64_t next_;  // Unused once splits are used in arrival order.
  bool waits_for_first_;
  std::map<std::uint64_t, Split> waiting_;
};

}  // namespace forebay
