#include "engine/cluster/central_tuner.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/clock.h"
#include "core/runtime/ask.h"
#include "tuner/tuner.h"

namespace forebay {
namespace {

/// Periods without a report after which a node is not planned with.
constexpr int kGone = 3;

std::vector<tuner::LinkWay> ways_of(const LinkSeen& link) {
  std::vector<tuner::LinkWay> ways;
  const std::size_t known = std::min(link.ratios.size(), link.seconds.size());
  for (std::size_t i = 0; i < known; ++i) {
    ways.push_back(
        {.ratio = std::max(link.ratios[i], 1e-3), .seconds = std::max(link.seconds[i], 0.0)});
  }
  return ways;
}

/// Splits/s between two moments in which a step ended, while the trainer had data; 0: not known.
double able_between(const TrainerSeen& from, const TrainerSeen& to) {
  if (to.worked <= from.worked) return 0;
  const double steps = static_cast<double>(to.steps - from.steps);
  return steps * to.splits / static_cast<double>(to.steps) / in_seconds(to.worked - from.worked);
}

}  // namespace

Advised CentralTuner::advise(const AskDecision& ask, std::chrono::nanoseconds now) {
  const bool has_others = std::ranges::any_of(nodes_, [&](const auto& other) {
    return other.first != ask.node &&
           other.second.report.description.stages.size() != ask.description.stages.size();
  });
  if (has_others) throw std::runtime_error("has other stages than the other nodes");
  Node& node = nodes_[ask.node];
  node.report = {.name = ask.node,
                 .trainer = ask.node == options_.own,
                 .fresh = true,
                 .description = ask.description,
                 .limits = ask.limits,
                 .seen = ask.seen,
                 .blocked = ask.link.blocked,
                 .way = ask.link.way,
                 .ways = ways_of(ask.link)};
  node.at = now;
  // A little less than a period, so that a node that asks early is not a period late.
  if (!node.advice || now - decided_ >= options_.period * 9 / 10) decide(now);
  return *node.advice;
}

tuner::TrainerReport CentralTuner::trainer_report() {
  const TrainerSeen before = std::exchange(before_, sums_);
  if (before.at.count() == 0) return {};
  const auto paused = sums_.paused - before.paused;
  return {.seconds = std::max(0.0, in_seconds(sums_.at - before.at - paused)),
          .waited_seconds = std::max(0.0, in_seconds(sums_.waited - before.waited)),
          .paused_seconds = std::max(0.0, in_seconds(paused)),
          .able = able_between(before, sums_),
          .threads = sums_.threads,
          .most_threads = sums_.most_threads};
}

void CentralTuner::decide(std::chrono::nanoseconds now) {
  decided_ = now;
  std::erase_if(nodes_,
                [&](const auto& each) { return now - each.second.at > kGone * options_.period; });
  if (!began_) began_ = now;
  tuner::ClusterReport report{.at_seconds = in_seconds(now - *began_), .trainer = trainer_report()};
  for (auto& [name, node] : nodes_) {
    report.nodes.push_back(node.report);
    node.report.fresh = false;
  }
  const tuner::ClusterAdvice advice = planner_.decide(report);
  std::size_t i = 0;
  for (auto& [name, node] : nodes_) {
    const tuner::NodeAdvice& told = advice.nodes[i++];
    node.advice = Advised{.proposal = {.allocation = told.allocation,
                                       .expected_splits_per_second = told.splits_per_second,
                                       .reason = advice.reason},
                          .fed = told.fed,
                          .sets_way = !node.report.ways.empty(),
                          .way = static_cast<std::uint32_t>(told.way),
                          .number = advice.number};
  }
  if (options_.on_decision) options_.on_decision(report, advice);
}

std::optional<Advised> CentralPolicy::ask_tuners(const tuner::Observation& seen) {
  constexpr std::chrono::seconds kPatience(1);
  const TunersRef tuners = options_.tuners();
  if (tuners.receiver() == nullptr) return std::nullopt;
  options_.question.seen = seen;
  options_.question.limits = seen.limits;
  if (options_.link) options_.question.link = options_.link(seen);
  auto answer = ask(tuners, AskDecision(options_.question), kPatience).wait();
  return answer ? std::optional(std::move(*answer)) : std::nullopt;
}

void CentralPolicy::obey(const Advised& advised) const {
  if (options_.obey) options_.obey(advised);
}

tuner::Proposal CentralPolicy::decide(const tuner::Observation& seen) {
  std::string fault = "none";
  tuner::Proposal alone;
  if (options_.own)
    alone = tuner::ask_safely(*options_.own, options_.question.description, seen, fault);
  if (auto advised = ask_tuners(seen)) {
    if (silent_ >= kSilent && options_.say) options_.say("the trainer's tuner answers again");
    silent_ = 0;
    obey(*advised);
    return std::move(advised->proposal);
  }
  if (++silent_ == kSilent) {
    if (options_.say) {
      options_.say("the trainer's tuner has been silent for " + std::to_string(kSilent) +
                   " periods; this node tunes itself");
    }
    obey({});
  }
  if (silent_ < kSilent || !fault.empty()) {
    return {.allocation = seen.allocation(), .reason = std::string(tuner::kUnanswered)};
  }
  alone.reason.insert(0, tuner::kAlone);
  return alone;
}

}  // namespace forebay
