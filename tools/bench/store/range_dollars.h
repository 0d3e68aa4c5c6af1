#pragma once

#include <cstdint>
#include <vector>

#include "actors/input/store/transfer/range_plan.h"

namespace forebay {

/// What a store takes for its answers, in dollars.
struct StorePrices {
  double request = 0;
  double byte = 0;
};

/// Requests, and the bytes that they bring.
struct Fetching {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;

  double dollars(const StorePrices& prices) const {
    return static_cast<double>(requests) * prices.request +
           static_cast<double>(bytes) * prices.byte;
  }
};

/// Returns what it takes to fetch `wanted` by a rule.
Fetching fetching_by(const std::vector<Wanted>& wanted, const RangeRule& rule);

/// Returns the cheapest way to fetch `wanted`, sorted by offset and without overlaps, in requests
/// of at most `part_bytes`, whatever its rule for gaps: the best of all ways to divide the wanted
/// bytes into runs of neighbours, by dynamic programming. Of two as cheap, that of fewer requests.
Fetching cheapest_fetching(const std::vector<Wanted>& wanted, const StorePrices& prices,
                           std::uint64_t part_bytes);

}  // namespace forebay
