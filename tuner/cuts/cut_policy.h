#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tuner/cuts/cut_search.h"
#include "tuner/fused_stages.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// A policy that also moves the cuts between fused stages.
///
/// A CutSearch says where the cuts lie; another policy, one for each set of cuts that was in use,
/// sees each group as one stage and sets the numbers of actors. Observations and proposals are of
/// all stages; one that is joined has 0 actors. Begins with the cuts that stand, or with those of
/// an earlier run. After a trial that failed goes back to the allocation before it. If the cuts
/// that stand are not those that were proposed, for which memory may lack, goes on from the ones
/// that stand after a few periods.
class CutPolicy final : public Policy {
 public:
  /// Makes the policy for a description of groups.
  using Make = std::function<Result<std::unique_ptr<Policy>>(const PipelineDescription&)>;

  /// Returns the error of `make` for all stages joined.
  static Result<std::unique_ptr<Policy>> make(const PipelineDescription& description, Make make);

  std::string_view name() const override { return inner_->name(); }
  Proposal decide(const Observation& observed) override;
  /// The cuts, and the states of the policies for these and earlier ones.
  std::string learned_state() const override;
  bool restore(std::string_view text) override;

 private:
  CutPolicy(const PipelineDescription& description, Make make, Joins joins,
            std::unique_ptr<Policy> inner);
  bool waits_for_cuts(const Joins& stand);
  void use_policy_for(const Joins& joins);
  Proposal whole(Proposal of_groups) const;

  const PipelineDescription description_;
  const Make make_;
  CutSearch search_;
  Joins joins_;  // those of inner_
  std::unique_ptr<Policy> inner_;
  std::map<Joins, std::string> states_;  // learned by earlier policies
  std::optional<Proposal> last_;
  std::optional<Allocation> before_trial_;
  int late_ = 0;           // periods in which the cuts that were proposed did not stand
  bool restored_ = false;  // the cuts are those of an earlier run
};

/// The observation as if the groups were those of `joins`: the actors of each group are divided
/// among its stages by the time that they took.
Observation regrouped(const PipelineDescription& description, const Observation& seen,
                      const Joins& joins);

}  // namespace forebay::tuner
