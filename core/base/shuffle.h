#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/base/random.h"

namespace forebay {

/// Shuffles `items` (Fisher–Yates, from the back). The order is a function of `random` and the
/// number of items; it never changes across versions, since row orders depend on it.
template <class T>
void shuffle(std::span<T> items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
}

}  // namespace forebay
