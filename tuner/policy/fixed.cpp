#include "tuner/policy/fixed.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "tuner/fit.h"
#include "tuner/plan/best_allocation.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

class One final : public Policy {
 public:
  explicit One(Allocation allocation) : allocation_(std::move(allocation)) {}

  std::string_view name() const override { return "one"; }

  Proposal decide(const Observation&) override {
    return {.allocation = allocation_, .reason = "one actor a stage"};
  }

 private:
  Allocation allocation_;
};

class Max final : public Policy {
 public:
  explicit Max(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "max"; }

  Proposal decide(const Observation& seen) override {
    Allocation most = one_each(description_);
    std::fill(most.actors.begin(), most.actors.end(), whole_cpus_of(seen.limits));
    return {.allocation = shaped(description_, most),
            .reason = "as many actors as CPUs everywhere"};
  }

 private:
  PipelineDescription description_;
};

class Even final : public Policy {
 public:
  explicit Even(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "even"; }

  Proposal decide(const Observation& seen) override {
    const std::uint32_t cpus = whole_cpus_of(seen.limits);
    const auto stages = static_cast<std::uint32_t>(description_.stages.size());
    Allocation even = one_each(description_);
    for (std::uint32_t i = 0; i < stages; ++i) {
      even.actors[i] = cpus / stages + (i < cpus % stages ? 1 : 0);
    }
    return {.allocation = shaped(description_, even), .reason = "CPUs shared evenly"};
  }

 private:
  PipelineDescription description_;
};

class Static final : public Policy {
 public:
  explicit Static(Allocation allocation) : allocation_(std::move(allocation)) {}

  std::string_view name() const override { return "static"; }

  Proposal decide(const Observation&) override {
    return {.allocation = allocation_, .reason = "as the job file says"};
  }

 private:
  Allocation allocation_;
};

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

class Proportional final : public Policy {
 public:
  explicit Proportional(PipelineDescription description)
      : description_(std::move(description)), profile_(description_.stages.size(), 1) {}

  std::string_view name() const override { return "proportional"; }

  Proposal decide(const Observation& seen) override {
    if (guess_) return {.allocation = *guess_, .reason = "in proportion to the profile"};
    profile_.add(seen);
    if (!profile_.all_seen()) {
      return {.allocation = current_allocation_of(description_, seen), .reason = "profiling"};
    }
    guess_ = guess(whole_cpus_of(seen.limits));
    return {.allocation = *guess_, .reason = "in proportion to the profile"};
  }

 private:
  Allocation guess(std::uint32_t cpus) const {
    std::vector<double> work;
    for (std::size_t i = 0; i < description_.stages.size(); ++i)
      work.push_back(profile_.service(i));
    Allocation shares = one_each(description_);
    shares.actors = divided(cpus, work);
    return shaped(description_, shares);
  }

  PipelineDescription description_;
  Measured profile_;
  std::optional<Allocation> guess_;
};

class Oracle final : public Policy {
 public:
  explicit Oracle(const PolicyContext& context)
      : description_(context.description), truth_(context.truth) {}

  std::string_view name() const override { return "oracle"; }

  Proposal decide(const Observation& seen) override {
    const Truth truth = truth_();
    const Limits limits{cpus_of(seen.limits), seen.limits.memory_bytes};
    Plan best = best_allocation(description_, truth.costs,
                                {.limits = limits, .trainer_rate = truth.trainer_rate});
    best.allocation.prefetch = description_.default_prefetch;
    const Bounds bounds{.actors = description_.max_actors, .bytes = limits.memory_bytes};
    return {.allocation = fitted(description_, shaped(description_, best.allocation), bounds),
            .expected_splits_per_second = best.splits_per_second,
            .reason = "best for the true costs"};
  }

 private:
  PipelineDescription description_;
  std::function<Truth()> truth_;
};

}  // namespace

std::unique_ptr<Policy> make_one(const PolicyContext& context) {
  return std::make_unique<One>(shaped(context.description, one_each(context.description)));
}

std::unique_ptr<Policy> make_max(const PolicyContext& context) {
  return std::make_unique<Max>(context.description);
}

std::unique_ptr<Policy> make_even(const PolicyContext& context) {
  return std::make_unique<Even>(context.description);
}

std::unique_ptr<Policy> make_static(const PolicyContext& context) {
  const bool given = !context.fixed.actors.empty();
  return std::make_unique<Static>(
      shaped(context.description, given ? context.fixed : one_each(context.description)));
}

std::unique_ptr<Policy> make_proportional(const PolicyContext& context) {
  return std::make_unique<Proportional>(context.description);
}

std::unique_ptr<Policy> make_oracle(const PolicyContext& context) {
  return std::make_unique<Oracle>(context);
}

}  // namespace forebay::tuner
