#include "tuner/policy/fixed.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/allocation.h"
#include "tuner/plan/plan.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

Decide always(const PipelineDescription& description, const Allocation& allocation,
              const char* reason) {
  return [proposal = Proposal{.allocation = shaped(description, allocation), .reason = reason}](
             const Observation&) { return proposal; };
}

// Divides `cpus` in proportion to `work`: shares are rounded down, the rest goes to the largest
// remainders.
std::vector<std::uint32_t> divided(std::uint32_t cpus, const std::vector<double>& work) {
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<std::uint32_t> parts;
  std::vector<std::pair<double, std::size_t>> remainders;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double share = cpus * work[i] / all;
    parts.push_back(static_cast<std::uint32_t>(share));
    remainders.emplace_back(std::floor(share) - share, i);
  }
  std::sort(remainders.begin(), remainders.end());
  const std::uint32_t given = std::accumulate(parts.begin(), parts.end(), std::uint32_t{0});
  for (std::size_t k = 0; k < remainders.size() && given + k < cpus; ++k) {
    ++parts[remainders[k].second];
  }
  return parts;
}

}  // namespace

Decide make_one(const PolicyContext& context) {
  return always(context.description, one_each(context.description), "one actor a stage");
}

Decide make_max(const PolicyContext& context) {
  return [description = context.description](const Observation& seen) {
    Allocation most = one_each(description);
    std::fill(most.actors.begin(), most.actors.end(), whole_cpus_of(seen.limits));
    return Proposal{.allocation = shaped(description, most),
                    .reason = "as many actors as CPUs everywhere"};
  };
}

Decide make_even(const PolicyContext& context) {
  return [description = context.description](const Observation& seen) {
    const std::uint32_t cpus = whole_cpus_of(seen.limits);
    const auto stages = static_cast<std::uint32_t>(description.stages.size());
    Allocation even = one_each(description);
    for (std::uint32_t i = 0; i < stages; ++i) {
      even.actors[i] = cpus / stages + (i < cpus % stages ? 1 : 0);
    }
    return Proposal{.allocation = shaped(description, even), .reason = "CPUs shared evenly"};
  };
}

Decide make_static(const PolicyContext& context) {
  const bool given = !context.fixed.actors.empty();
  return always(context.description, given ? context.fixed : one_each(context.description),
                "as the job file says");
}

Decide make_proportional(const PolicyContext& context) {
  const std::size_t stages = context.description.stages.size();
  return [description = context.description, profile = Measured(stages, 1),
          guess = std::optional<Allocation>()](const Observation& seen) mutable -> Proposal {
    if (!guess) {
      profile.add(seen);
      if (!profile.all_seen()) {
        return {.allocation = current_allocation_of(description, seen), .reason = "profiling"};
      }
      std::vector<double> work;
      for (std::size_t i = 0; i < description.stages.size(); ++i) {
        work.push_back(profile.service(i));
      }
      Allocation shares = one_each(description);
      shares.actors = divided(whole_cpus_of(seen.limits), work);
      guess = shaped(description, shares);
    }
    return {.allocation = *guess, .reason = "in proportion to the profile"};
  };
}

Decide make_oracle(const PolicyContext& context) {
  return [description = context.description, truth_now = context.truth](const Observation& seen) {
    const Truth truth = truth_now();
    const Limits limits{cpus_of(seen.limits), seen.limits.memory_bytes};
    Plan best = best_allocation(description, truth.costs,
                                {.limits = limits, .trainer_rate = truth.trainer_rate});
    best.allocation.prefetch = description.default_prefetch;
    const Bounds bounds{.actors = description.max_actors, .bytes = limits.memory_bytes};
    return Proposal{.allocation = fitted(description, shaped(description, best.allocation), bounds),
                    .expected_splits_per_second = best.splits_per_second,
                    .reason = "best for the true costs"};
  };
}

}  // namespace forebay::tuner
