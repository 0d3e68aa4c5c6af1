#include "tuner/cuts/cut_policy.h"

#include <vector>

#include "tuner/policy/policies.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Counts = std::vector<std::uint32_t>;

PipelineDescription three_stages() {
  return {.stages = {{"load", 8, 100}, {"decode", 8, 100, 0}, {"shuffle", 8, 100, 0}}};
}

/// Proposes what is seen, and a number of decisions as what it has learned.
class Stays final : public Policy {
 public:
  explicit Stays(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "stays"; }
  Proposal decide(const Observation& seen) override {
    REQUIRE(seen.stages.size() == description_.stages.size());
    ++decisions_;
    Proposal proposal{.allocation = seen.allocation(), .reason = "stays"};
    proposal.beliefs.stages.resize(seen.stages.size(), {.seconds = 1});
    return proposal;
  }
  std::string learned_state() const override { return std::to_string(decisions_); }
  bool restore(std::string_view text) override {
    if (text == "broken") return false;
    decisions_ = std::stoi(std::string(text));
    return true;
  }

 private:
  PipelineDescription description_;
  int decisions_ = 0;
};

std::unique_ptr<Policy> cut_policy() {
  auto made = CutPolicy::make(three_stages(), [](const PipelineDescription& groups) {
    return Result<std::unique_ptr<Policy>>(std::make_unique<Stays>(groups));
  });
  REQUIRE(made);
  return std::move(*made);
}

/// Two seconds in which load waits and the CPUs have room, with 10 splits/s.
Observation seen_with(const Counts& actors, double splits_per_second = 10) {
  Observation seen{.seconds = 2, .limits = {.cpus = 4, .memory_bytes = 1 << 20}};
  for (const std::uint32_t each : actors) seen.stages.push_back({.actors = each});
  seen.stages[0].done_seconds = 6;
  seen.stages[0].done_cpu_seconds = 0.6;
  seen.stages[1].done_seconds = seen.stages[1].done_cpu_seconds = 1;
  seen.stages[2].done_seconds = seen.stages[2].done_cpu_seconds = 1;
  for (StageObservation& stage : seen.stages) stage.cpu_seconds = 1;
  seen.trainer_steps = static_cast<std::uint64_t>(2 * splits_per_second);
  seen.trainer_wait_seconds = 1;
  return seen;
}

/// Decides with what is seen of the allocation proposed last, until a proposal's reason begins so.
Proposal until(Policy& policy, Proposal proposal, const std::string& begin,
               double splits_per_second = 10) {
  for (int i = 0; i < 20 && !proposal.reason.starts_with(begin); ++i) {
    proposal = policy.decide(seen_with(proposal.allocation.actors, splits_per_second));
  }
  CHECK(proposal.reason.starts_with(begin));
  return proposal;
}

}  // namespace

TEST_CASE("the policy inside sees groups, the one around it speaks of stages", "[tuner][cuts]") {
  const auto policy = cut_policy();
  CHECK(policy->name() == "stays");
  const Proposal proposal = policy->decide(seen_with({4, 0, 0}));
  CHECK(proposal.allocation.actors == Counts{4, 0, 0});
  REQUIRE(proposal.beliefs.stages.size() == 3);
  CHECK(proposal.beliefs.stages[0].seconds == 1);
  CHECK(proposal.beliefs.stages[1].seconds == 0);
}

TEST_CASE("a cut on trial begins with actors in proportion to the stages' times", "[tuner][cuts]") {
  const auto policy = cut_policy();
  const Proposal first = policy->decide(seen_with({4, 0, 0}));
  const Proposal tried = until(*policy, first, "tries stages in groups load, decode+shuffle: ");
  // Three quarters of the time of a split are load's.
  CHECK(tried.allocation.actors == Counts{3, 1, 0});

  SECTION("and stays if it was better, which is said") {
    const Proposal kept = until(*policy, tried, "stays", 13);
    CHECK(kept.allocation.actors == Counts{3, 1, 0});
    CHECK(kept.beliefs.outcome ==
          "stages in groups load, decode+shuffle: 13 splits/s, 10 before; stay so");
  }
  SECTION("and goes back if it was not, to the policy that knew the groups") {
    const Proposal back = until(*policy, tried, "stays", 10);
    CHECK(back.allocation.actors == Counts{4, 0, 0});
    CHECK(back.beliefs.outcome ==
          "stages in groups load, decode+shuffle: 10 splits/s, 10 before; back to "
          "load+decode+shuffle");
    // Four decisions before the trial, and one more.
    CHECK_THAT(policy->learned_state(), Catch::Contains(R"("|++":"5")"));
  }
}

TEST_CASE("after cuts that failed, the actors are those from before the trial", "[tuner][cuts]") {
  const auto policy = cut_policy();
  const Proposal first = policy->decide(seen_with({4, 0, 0}));
  Proposal tried = until(*policy, first, "tries stages in groups load, decode+shuffle: ");
  tried.allocation.actors = {1, 1, 0};  // to which the policy inside moved meanwhile
  CHECK(until(*policy, tried, "stays", 5).allocation.actors == Counts{4, 0, 0});
}

TEST_CASE("splits that wait for a CPU together do not keep stages together", "[tuner][cuts]") {
  const auto policy = cut_policy();
  Proposal proposal{.allocation = {{4, 0, 0}, 1}};
  for (int i = 0; i < 5; ++i) {
    Observation seen = seen_with(proposal.allocation.actors);
    seen.stages[1].done_ready_seconds = 6;  // of 8, of which 3 were used
    seen.stages[1].done_seconds += 6;
    proposal = policy->decide(seen);
  }
  CHECK(proposal.allocation.actors == Counts{2, 2, 0});
}

TEST_CASE("CPUs without room are no reason for a cut", "[tuner][cuts]") {
  const auto policy = cut_policy();
  for (int i = 0; i < 20; ++i) {
    Observation seen = seen_with({4, 0, 0});
    seen.stages[1].cpu_seconds = 5;
    CHECK(policy->decide(seen).allocation.actors == Counts{4, 0, 0});
  }
}

TEST_CASE("a policy that takes over begins with the cuts that stand", "[tuner][cuts]") {
  CHECK(cut_policy()->decide(seen_with({3, 1, 0})).allocation.actors == Counts{3, 1, 0});
}

TEST_CASE("cuts that do not come about are given up", "[tuner][cuts]") {
  const auto policy = cut_policy();
  const Proposal first = policy->decide(seen_with({4, 0, 0}));
  const Proposal tried = until(*policy, first, "tries ");
  for (int i = 0; i < 3; ++i) {
    CHECK(policy->decide(seen_with({4, 0, 0})).allocation == tried.allocation);
  }
  CHECK(policy->decide(seen_with({4, 0, 0})).allocation.actors == Counts{4, 0, 0});
}

TEST_CASE("a later run begins with the cuts that stood, not with those on trial", "[tuner][cuts]") {
  const auto policy = cut_policy();
  const Proposal first = policy->decide(seen_with({4, 0, 0}));
  const Proposal tried = until(*policy, first, "tries ");
  const std::string on_trial = policy->learned_state();
  until(*policy, tried, "stays", 13);

  const auto later = cut_policy();
  REQUIRE(later->restore(policy->learned_state()));
  CHECK(later->decide(seen_with({4, 0, 0})).allocation.actors == Counts{3, 1, 0});

  const auto meanwhile = cut_policy();
  REQUIRE(meanwhile->restore(on_trial));
  CHECK(meanwhile->decide(seen_with({4, 0, 0})).allocation.actors == Counts{4, 0, 0});
}

TEST_CASE("a state that does not fit is not restored", "[tuner][cuts]") {
  const auto policy = cut_policy();
  const auto state = [](const std::string& joins, const std::string& states) {
    return R"({"forebay_cuts":1,"joins":")" + joins + R"(","states":)" + states + "}";
  };
  CHECK(policy->restore(state("|++", R"({"|++":"3"})")));
  for (const std::string& text :
       {std::string(), std::string("[]"), state("|++", R"({"|++":"broken"})"),
        state("|+", R"({"|+":"3"})"), state("+++", R"({"+++":"3"})"),
        state("|+|", R"({"|++":"3"})"), state("|++", R"({"|++":3})"), state("|++", "3"),
        state("|x+", R"({"|x+":"3"})"), state("|++", R"({"|++":"3","|x+":"3"})"),
        std::string(R"({"forebay_cuts":2,"joins":"|++","states":{"|++":"3"}})"),
        std::string(R"({"forebay_cuts":1,"joins":3,"states":{"|++":"3"}})")}) {
    INFO(text);
    CHECK_FALSE(policy->restore(text));
  }
}

TEST_CASE("every policy moves cuts where stages may join", "[tuner][cuts]") {
  PolicyContext context;
  context.description = three_stages();
  context.limits = {.cpus = 4, .memory_bytes = 1 << 20};
  auto intune = make_policy("intune", context);
  REQUIRE(intune);
  CHECK((*intune)->name() == "intune");
  const Proposal proposal = (*intune)->decide(seen_with({4, 0, 0}));
  REQUIRE(proposal.allocation.actors.size() == 3);
  CHECK(proposal.allocation.actors[0] > 0);
  CHECK(proposal.allocation.actors[1] == 0);
  CHECK_FALSE((*intune)->learned_state().empty());
}

}  // namespace forebay::tuner
