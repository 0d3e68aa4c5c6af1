#include "tuner/policy/proportional.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "tuner/fit.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

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

}  // namespace

std::unique_ptr<Policy> make_proportional(const PolicyContext& context) {
  return std::make_unique<Proportional>(context.description);
}

}  // namespace forebay::tuner
