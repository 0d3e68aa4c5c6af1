#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>

#include "core/base/printable.h"
#include "engine/report/json_object.h"
#include "engine/run/decision_text.h"
#include "tools/command/commands.h"
#include "tools/command/tune_log.h"
#include "tools/terminal/print_json.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

using tuner::Decision;
using tuner::Proposal;

/// A decision that the policy would now take differently.
struct Difference {
  const Decision* logged;
  std::string now;
};

Result<std::unique_ptr<tuner::Policy>> policy_of(const tuner::LogHeader& header) {
  tuner::PolicyContext context;
  context.description = header.description;
  context.limits = header.limits;
  context.seed = header.seed;
  context.fixed = header.start;
  context.weights = header.weights;
  context.reward = tuner::reward_mode(header.reward);
  auto policy = tuner::make_policy(header.policy, context);
  if (policy && !header.restored.empty() && !(*policy)->restore(header.restored)) {
    return fail(Code::kInvalid, "policy " + header.policy +
                                    " does not take the experience it had at the log's start");
  }
  return policy;
}

std::string describe(const Proposal& proposal, const tuner::PipelineDescription& description) {
  std::array<char, 48> expected{};
  std::snprintf(expected.data(), expected.size(), " for %.6g splits/s",
                proposal.expected_splits_per_second);
  return forebay::describe(proposal.allocation, description) + expected.data();
}

bool same(const Proposal& a, const Proposal& b) {
  const double x = a.expected_splits_per_second;
  const double y = b.expected_splits_per_second;
  return a.allocation == b.allocation && (x == y || (std::isnan(x) && std::isnan(y)));
}

std::vector<Difference> replay(const tuner::DecisionLog& log, tuner::Policy& policy) {
  std::vector<Difference> differences;
  for (const Decision& decision : log.decisions) {
    const bool listened_to = decision.fault.empty();
    try {
      const Proposal now = policy.decide(decision.seen);
      if (listened_to && !same(now, decision.proposal)) {
        differences.push_back({&decision, describe(now, log.header.description)});
      }
    } catch (const std::exception& thrown) {
      if (listened_to) differences.push_back({&decision, std::string("fails: ") + thrown.what()});
    }
  }
  return differences;
}

}  // namespace

Exit run_tune_replay(const Invocation& invocation) {
  const auto& given = invocation.arguments;
  auto log = open_log(given.empty() ? "." : given.front());
  if (!log) return Exit::refused(log.error());
  auto policy = policy_of(log->header);
  if (!policy) return Exit::refused(policy.error());
  const auto differences = replay(*log, **policy);
  if (invocation.has("--json")) {
    std::vector<JsonObject> list;
    list.reserve(differences.size());
    for (const Difference& difference : differences) {
      list.push_back(
          JsonObject()
              .add("number", difference.logged->number)
              .add("logged", describe(difference.logged->proposal, log->header.description))
              .add("now", difference.now));
    }
    print_json(JsonObject()
                   .add("policy", log->header.policy)
                   .add("decisions", log->decisions.size())
                   .add("differences", list));
    return Exit::done();
  }
  for (const Difference& difference : differences) {
    std::printf("%4llu logged %s; now %s\n",
                static_cast<unsigned long long>(difference.logged->number),
                printable(describe(difference.logged->proposal, log->header.description)).c_str(),
                printable(difference.now).c_str());
  }
  std::printf("%s would decide otherwise %zu times in %zu\n", printable(log->header.policy).c_str(),
              differences.size(), log->decisions.size());
  return Exit::done();
}

}  // namespace forebay
