#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// The best fixed allocation that is known of a steady world, and what it brings.
struct BestKnown {
  Allocation allocation = {};
  double splits_per_second = 0;
  bool exact = false;      ///< From the formulas, not from a search.
  bool cut_short = false;  ///< The search was stopped, so better ones may be near.
};

/// How a search goes.
struct SearchOptions {
  std::uint64_t splits = 2000;         ///< Of each simulation, after a warm-up.
  std::size_t starts = 8;              ///< Each followed by local search.
  double gain = 0.005;                 ///< A move that gains less is none.
  std::function<bool()> stopped = {};  ///< True ends the search with what it has.
};

/// The rate of an allocation of a steady world over so many splits, after a warm-up, by simulation
/// with the random numbers of one seed.
double simulated_rate(const PipelineModel& steady, const Allocation& allocation,
                      std::uint64_t splits);

/// The best legal allocation that a local search finds (actors ± 1 and ± 5 of each stage on each
/// node, prefetch halved and doubled) from several starts, each until no move gains; then with as
/// few actors as bring the same but for 0.2 %. A move whose rate_bound() gains too little is not
/// simulated. Exact, without a search, where the model is no world. Deterministic.
BestKnown find_best(const PipelineModel& steady, const SearchOptions& options = {});

}  // namespace forebay::tuner
