#include "tools/inspect/belief_words.h"

#include <algorithm>
#include <cstddef>

#include "core/base/text/counted.h"
#include "engine/job/quantity.h"
#include "tuner/fused_stages.h"

namespace forebay {
namespace {

using tuner::Beliefs;
using tuner::Decision;
using tuner::PipelineDescription;
using tuner::StageBelief;

constexpr double kFull = 0.97;     // of a resource, from which it is the limit
constexpr double kFed = 0.02;      // share of waiting up to which a trainer is fed
constexpr double kAlone = 1.02;    // times the time alone, up to which actors do not disturb
constexpr double kCertain = 0.03;  // standard deviation, of the logarithm
constexpr double kShort = 0.03;    // of the rate, from which something is missing

std::string in_words(double seconds) {
  if (seconds < 1e-3) return printed("%.3g µs", 1e6 * seconds);
  return seconds < 1 ? printed("%.3g ms", 1e3 * seconds) : printed("%.3g s", seconds);
}

std::string trainer_words(const Decision& decision, const Beliefs& beliefs) {
  const tuner::Observation& seen = decision.seen;
  const double waited = seen.seconds > 0 ? seen.trainer_wait_seconds / seen.seconds : 0;
  std::string words = beliefs.trainer_rate > 0
                          ? printed("takes at most %.3g splits/s", beliefs.trainer_rate)
                          : std::string("has taken no split yet");
  words +=
      waited <= kFed ? ", and is fed" : ", and waited " + format_percent(waited) + " of the time";
  if (beliefs.missing > kShort) {
    words += "; " + format_percent(beliefs.missing) + " of what the costs allow is missing";
  }
  return words;
}

std::string cpu_words(const Decision& decision, const Beliefs& beliefs) {
  double used = 0;
  for (const tuner::StageObservation& stage : decision.seen.stages) used += stage.cpu_seconds;
  used /= std::max(decision.seen.seconds, 1e-9);
  const std::string words = printed("%.3g for the stages, which use %.3g", beliefs.cpus, used);
  return used >= kFull * beliefs.cpus ? words + ": the limit" : words;
}

std::string memory_words(const Decision& decision, const PipelineDescription& description) {
  const std::uint64_t most = tuner::worst_case_bytes(description, decision.applied);
  const std::uint64_t granted = decision.seen.limits.memory_bytes;
  const std::string words = format_size(most) + " at worst, of " + format_size(granted);
  const bool full = static_cast<double>(most) >= kFull * static_cast<double>(granted);
  return full ? words + ": the limit" : words;
}

std::string stage_words(const StageBelief& stage, std::uint32_t actors, bool slowest) {
  if (stage.seconds <= 0) return "has not finished a split yet";
  std::string words = in_words(stage.seconds) + " a split, " + format_percent(stage.cpu) +
                      " of it on a CPU; " + format_counted(actors, "actor makes", "actors make") +
                      printed(" %.3g splits/s", stage.rate);
  if (slowest) words += ", the fewest";
  if (stage.slow > kAlone) {
    words += printed("; they slow one another %.3g times", stage.slow);
  }
  if (stage.max_rate > 0) {
    words += printed("; a disk or a link allows %.3g splits/s", stage.max_rate);
  }
  words += "; splits vary by " + format_percent(stage.noise);
  words += stage.doubt > kCertain ? ", the mean is known within " + format_percent(stage.doubt)
                                  : ", the mean is known well";
  return words;
}

/// Splits/s that the actors of a stage can make on so many CPUs.
double rate_on(double cpus, const StageBelief& stage) {
  const double cpu_seconds = stage.seconds * stage.slow * stage.cpu;
  return cpus > 0 && cpu_seconds > 0 ? std::min(stage.rate, cpus / cpu_seconds) : stage.rate;
}

std::size_t slowest_of(const Beliefs& beliefs) {
  std::size_t slowest = beliefs.stages.size();
  for (std::size_t i = 0; i < beliefs.stages.size(); ++i) {
    if (beliefs.stages[i].seconds <= 0) continue;
    const bool first = slowest == beliefs.stages.size();
    if (first || beliefs.stages[i].rate < beliefs.stages[slowest].rate) slowest = i;
  }
  return slowest;
}

std::string line_of(const std::string& name, const std::string& words) {
  return printed("  %-12s ", name.c_str()) + words;
}

// Reasons of a policy that begin so are of tries beyond its plan (tuner/agent).
bool is_try(const std::string& reason) {
  return reason.starts_with("tries ") || reason.starts_with("tests ") ||
         reason.find(": tries ") != std::string::npos ||
         reason.starts_with("goes back to the best");
}

}  // namespace

std::vector<std::string> belief_words(const Decision& decision,
                                      const PipelineDescription& description) {
  Beliefs beliefs = decision.proposal.beliefs;
  const std::size_t stages = description.stages.size();
  if (stages == 0 || beliefs.stages.size() != stages || decision.seen.stages.size() != stages) {
    return {};
  }
  for (StageBelief& stage : beliefs.stages) stage.rate = rate_on(beliefs.cpus, stage);
  std::vector<std::string> lines{line_of("trainer", trainer_words(decision, beliefs)),
                                 line_of("CPUs", cpu_words(decision, beliefs)),
                                 line_of("memory", memory_words(decision, description))};
  const std::size_t slowest = slowest_of(beliefs);
  const tuner::Joins joins = tuner::joins_of(description, decision.applied);
  std::size_t first = 0;
  for (const tuner::StageDescription& group : tuner::fused(description, joins).stages) {
    const std::uint32_t actors = std::max(1U, decision.seen.stages[first].actors);
    lines.push_back(
        line_of(group.name, stage_words(beliefs.stages[first], actors, first == slowest)));
    first = tuner::end_of_group(joins, first);
  }
  return lines;
}

std::vector<std::string> try_words(const std::vector<Decision>& decisions) {
  std::vector<std::string> lines;
  std::string trying;
  for (const Decision& decision : decisions) {
    const std::string number = printed("%4llu ", static_cast<unsigned long long>(decision.number));
    if (!decision.proposal.beliefs.outcome.empty()) {
      lines.push_back(number + "came of it: " + decision.proposal.beliefs.outcome);
      trying.clear();
    }
    const std::string& reason = decision.proposal.reason;
    if (!is_try(reason)) {
      trying.clear();
      continue;
    }
    // A try lasts several decisions, whose reasons differ in the moves at their end.
    const bool goes_on =
        !trying.empty() && (reason.starts_with(trying) || trying.starts_with(reason));
    if (!goes_on) lines.push_back(number + reason);
    if (!goes_on || reason.size() < trying.size()) trying = reason;
  }
  return lines;
}

}  // namespace forebay
