#include "tuner/cuts/cut_policy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"

namespace forebay::tuner {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 16 << 20;
constexpr std::size_t kMostStates = 8;
constexpr int kPatience = 3;  // periods until cuts that were proposed are given up

Joins may_join(const PipelineDescription& description) {
  Joins joins;
  for (const StageDescription& stage : description.stages) {
    joins.push_back(!joins.empty() && stage.least_actors == 0);
  }
  return joins;
}

double waiting_share(const StageObservation& stage) {
  const double wall = stage.done_seconds - stage.done_ready_seconds;
  return wall > 0 ? std::clamp(1 - stage.done_cpu_seconds / wall, 0.0, 1.0) : 0;
}

CutInterval interval_of(const Observation& seen) {
  CutInterval interval{.splits_per_second = seen.splits_per_second(), .fed = seen.is_fed()};
  double used = 0;
  double waited = 0;
  for (const StageObservation& stage : seen.stages) {
    used += stage.cpu_seconds;
    waited += stage.done_ready_seconds;
    interval.waiting.push_back(waiting_share(stage));
  }
  const double cpus = seen.limits.cpus * seen.seconds - seen.other_cpu_seconds;
  interval.used = cpus > 0 ? used / cpus : 1;
  interval.wanted = cpus > 0 ? (used + waited) / cpus : 1;
  return interval;
}

std::string text_of(const Joins& joins) {
  std::string text;
  for (const bool joined : joins) text += joined ? '+' : '|';
  return text;
}

std::optional<Joins> joins_in(const std::string& text, const Joins& may_join) {
  if (text.size() != may_join.size()) return std::nullopt;
  Joins joins;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '|' && (text[i] != '+' || !may_join[i])) return std::nullopt;
    joins.push_back(text[i] == '+');
  }
  return joins;
}

std::string words_of(const CutTrial& trial, const PipelineDescription& description) {
  char rates[96];
  std::snprintf(rates, sizeof rates, ": %.3g splits/s, %.3g before; ", trial.rate_tried,
                trial.rate_before);
  return "stages in groups " + names_of_groups(description, trial.tried) + rates +
         (trial.kept ? "stay so" : "back to " + names_of_groups(description, trial.before));
}

}  // namespace

Observation regrouped(const PipelineDescription& description, const Observation& seen,
                      const Joins& joins) {
  const Joins stand = joins_of(description, seen.allocation());
  const std::size_t stages = seen.stages.size();
  std::vector<double> shares(stages);
  for (std::size_t first = 0; first < stages; first = end_of_group(stand, first)) {
    const std::size_t end = end_of_group(stand, first);
    double sum = 0;
    for (std::size_t i = first; i < end; ++i) sum += seen.stages[i].done_seconds;
    for (std::size_t i = first; i < end; ++i) {
      const double share =
          sum > 0 ? seen.stages[i].done_seconds / sum : 1 / static_cast<double>(end - first);
      shares[i] = share * seen.stages[first].actors;
    }
  }
  Observation view = seen;
  for (std::size_t first = 0; first < stages; first = end_of_group(joins, first)) {
    double actors = 0;
    for (std::size_t i = first; i < end_of_group(joins, first); ++i) actors += shares[i];
    view.stages[first].actors = static_cast<std::uint32_t>(std::max(1L, std::lround(actors)));
  }
  return fused(view, joins);
}

Result<std::unique_ptr<Policy>> CutPolicy::make(const PipelineDescription& description, Make make) {
  Joins joins = may_join(description);
  auto inner = make(fused(description, joins));
  if (!inner) return inner;
  return std::unique_ptr<Policy>(
      new CutPolicy(description, std::move(make), std::move(joins), std::move(*inner)));
}

CutPolicy::CutPolicy(const PipelineDescription& description, Make make, Joins joins,
                     std::unique_ptr<Policy> inner)
    : description_(description),
      make_(std::move(make)),
      search_(joins, joins),
      joins_(std::move(joins)),
      inner_(std::move(inner)) {}

Proposal CutPolicy::decide(const Observation& observed) {
  Observation seen = observed;
  seen.stages.resize(description_.stages.size());
  const Joins stand = joins_of(description_, seen.allocation());
  if (waits_for_cuts(stand)) return *last_;
  std::optional<CutTrial> ended;
  const bool tried = search_.trial().has_value();
  if (stand == search_.joins()) ended = search_.add(interval_of(seen));
  if (!tried && search_.trial()) before_trial_ = seen.allocation();
  use_policy_for(search_.joins());
  Proposal proposal = whole(inner_->decide(regrouped(description_, seen, joins_)));
  if (search_.trial()) {
    proposal.reason =
        "tries stages in groups " + names_of_groups(description_, joins_) + ": " + proposal.reason;
  }
  if (ended) proposal.beliefs.outcome = words_of(*ended, description_);
  // The trial's actors suited other cuts, and were a first plan.
  if (ended && !ended->kept && before_trial_) proposal.allocation = *before_trial_;
  last_ = proposal;
  return proposal;
}

/// Whether the cuts that were proposed may still come; if they do not, those that stand are taken.
bool CutPolicy::waits_for_cuts(const Joins& stand) {
  const bool begins_anew = !last_ && restored_;
  if (stand == search_.joins() || begins_anew) {
    late_ = 0;
    return false;
  }
  if (last_ && ++late_ <= kPatience) return true;
  search_.adopt(stand);
  late_ = 0;
  return false;
}

void CutPolicy::use_policy_for(const Joins& joins) {
  if (joins == joins_) return;
  auto next = make_(fused(description_, joins));
  if (!next) return search_.adopt(joins_);
  if (states_.size() < kMostStates || states_.contains(joins_)) {
    states_[joins_] = inner_->learned_state();
  }
  if (const auto state = states_.find(joins); state != states_.end()) {
    (*next)->restore(state->second);
  }
  inner_ = std::move(*next);
  joins_ = joins;
}

Proposal CutPolicy::whole(Proposal of_groups) const {
  const auto groups = static_cast<std::size_t>(std::ranges::count(joins_, false));
  if (of_groups.allocation.actors.size() == groups) {
    of_groups.allocation = apart(of_groups.allocation, joins_);
  }
  std::vector<StageBelief> beliefs = std::move(of_groups.beliefs.stages);
  of_groups.beliefs.stages.clear();
  if (beliefs.empty()) return of_groups;
  auto next = beliefs.begin();
  for (const bool joined : joins_) {
    of_groups.beliefs.stages.push_back(joined || next == beliefs.end() ? StageBelief{} : *next++);
  }
  return of_groups;
}

// A later run begins with the cuts that stand, not with those that are on trial.
std::string CutPolicy::learned_state() const {
  json states = json::object();
  for (const auto& [joins, state] : states_) states[text_of(joins)] = state;
  states[text_of(joins_)] = inner_->learned_state();
  const Joins& joins = states.contains(text_of(search_.stands())) ? search_.stands() : joins_;
  return json_text(json{{"forebay_cuts", kVersion}, {"joins", text_of(joins)}, {"states", states}});
}

bool CutPolicy::restore(std::string_view text) {
  if (text.size() > kMostBytes) return false;
  const json read = parse_json(text);
  if (!read.is_object() || read.value("forebay_cuts", json()) != json(kVersion)) return false;
  const json joins_text = read.value("joins", json());
  const json states = read.value("states", json());
  if (!joins_text.is_string() || !states.is_object() || states.size() > kMostStates + 1) {
    return false;
  }
  const Joins possible = may_join(description_);
  const auto joins = joins_in(joins_text.get<std::string>(), possible);
  std::map<Joins, std::string> restored;
  for (const auto& [key, state] : states.items()) {
    const auto of = joins_in(key, possible);
    if (!of || !state.is_string()) return false;
    restored[*of] = state.get<std::string>();
  }
  if (!joins || !restored.contains(*joins)) return false;
  auto inner = make_(fused(description_, *joins));
  if (!inner || !(*inner)->restore(restored[*joins])) return false;
  states_ = std::move(restored);
  inner_ = std::move(*inner);
  joins_ = *joins;
  search_.adopt(*joins);
  restored_ = true;
  return true;
}

}  // namespace forebay::tuner
