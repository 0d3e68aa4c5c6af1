// Runs worlds in the simulator and on the emulated machine, and compares their rates.
//
//   world_agreement FILE[:ALLOCATION]…        the allocation as in `forebay simulate --allocation`
//   ROUNDS=3 SECONDS=16 …                     runs of each file, and the length of a run
//   POLICY=central SECONDS=120 … FILE…        tuned by a policy instead, from one actor a stage
//
// A round emulates every file once and compares it with the mean of simulations of the same
// seconds, because a single run of noisy work is no yardstick. Where splits have tails, a mean
// would take hours: there a round is compared with the simulation of its own seed, which draws the
// same tails, and lasts for 40 s at least. Both count from the middle of a run to its end; where
// the trainer pauses, a run lasts for two periods of the pauses. Prints the median of the rounds,
// and ends with 1 where a ratio is more than 5 % from 1 although threads woke in time. With a
// policy the table also has the emulated rate over rate_bound(), which no allocation exceeds, and
// the workers that the central tuner fed, simulated and emulated.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/emulated/world_emulation.h"
#include "engine/modelled/emulation.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/modelled/simulation.h"
#include "tuner/compare/comparison.h"
#include "tuner/world/rate_bound.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay {
namespace {

constexpr double kMostApart = 0.05;
constexpr int kSimulations = 16;  // seeds
constexpr double kTailSeconds = 40;

/// What 256 threads suffice for.
constexpr const char* kSixteen = "load=1,decode=4,udf=3";

// The allocations for which the known answers of the small worlds hold.
const std::map<std::string, std::string>& usual_allocations() {
  static const std::map<std::string, std::string> usual = {{"two-stages-one-server", "a=16,b=8"},
                                                           {"memory-bandwidth", "a=8"},
                                                           {"thin-link", "a=4,b=2"},
                                                           {"slow-node", "a=8"},
                                                           {"paused-trainer", "a=8"},
                                                           {"tails-in-order", "a=10"},
                                                           {"sixteen-nodes", kSixteen},
                                                           {"sixteen-fed", kSixteen},
                                                           {"sixteen-served", kSixteen}};
  return usual;
}

double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

/// The policy that tunes all runs; empty: the allocations are fixed.
std::string policy() {
  const char* text = std::getenv("POLICY");
  return text == nullptr ? "" : text;
}

struct Steady {
  double splits_per_second = 0;
  double fed_workers = 0;
  double actors = 0;  ///< At the end.
};

struct Case {
  std::string file;
  tuner::PipelineModel model;
  tuner::Allocation allocation;
  double seconds = 0;
  struct Round {
    Steady simulated;
    Steady emulated;
    double ratio() const {
      return simulated.splits_per_second > 0
                 ? emulated.splits_per_second / simulated.splits_per_second
                 : 0;
    }
  };
  std::vector<Round> rounds = {};
  bool kept_time = false;  // in a round at least
};

bool has_tails(const tuner::PipelineModel& model) {
  return std::ranges::any_of(model.stages,
                             [](const auto& stage) { return stage.tail.has_value(); });
}

Result<Case> case_of(const std::string& argument, double seconds) {
  const std::size_t colon = argument.find(".toml:");
  const std::size_t end = colon == std::string::npos ? argument.size() : colon + 5;
  auto model = load_pipeline(argument.substr(0, end));
  if (!model) return pass(model);
  std::string text = end < argument.size() ? argument.substr(end + 1) : "";
  if (!text.empty() && !policy().empty()) {
    return fail(Code::kInvalid, argument + ": POLICY begins with one actor a stage");
  }
  const auto usual = usual_allocations().find(model->name);
  if (policy().empty() && usual != usual_allocations().end() && text.empty()) text = usual->second;
  auto allocation = parse_allocation(text, *model);
  if (!allocation) return pass(allocation);
  if (text.empty() && policy().empty()) std::ranges::fill(allocation->actors, 4U);
  if (has_tails(*model)) seconds = std::max(seconds, kTailSeconds);
  if (model->pause) seconds = std::max(seconds, 2 * model->pause->every);
  return Case{argument.substr(0, end), std::move(*model), std::move(*allocation), seconds};
}

Steady tuned(const Case& of, std::uint64_t seed) {
  const auto bound = [](const tuner::PipelineModel& model) {
    return tuner::BestKnown{.allocation = one_each(tuner::world_description(model)),
                            .splits_per_second = tuner::rate_bound(model)};
  };
  const auto decisions =
      std::max<std::uint64_t>(2, static_cast<std::uint64_t>(of.seconds / tuner::kPeriodSeconds));
  const auto run = tuner::run_one({.model = of.model,
                                   .policy = policy(),
                                   .seed = seed,
                                   .decisions = decisions,
                                   .find_best = bound},
                                  tuner::simulated_machines(), {});
  double trained = 0;
  const auto& periods = run.record.trace.periods;
  for (std::size_t i = periods.size() / 2; i < periods.size(); ++i) {
    trained += static_cast<double>(periods[i].trained);
  }
  const double from = periods[periods.size() / 2].begin_seconds;
  return {.splits_per_second = trained / (periods.back().end_seconds - from),
          .fed_workers = run.fed_workers.value_or(0),
          .actors = run.figures.actors};
}

Steady simulated(const Case& of, std::uint64_t seed) {
  if (!policy().empty()) return tuned(of, seed);
  const auto machine = tuner::simulator_for(of.model, seed);
  machine->apply(of.allocation);
  machine->run_until(of.seconds / 2);
  const std::uint64_t before = machine->totals().trained;
  machine->run_until(of.seconds);
  const auto trained = static_cast<double>(machine->totals().trained - before);
  return {.splits_per_second = trained / (of.seconds / 2),
          .actors = static_cast<double>(of.allocation.total_actors())};
}

Steady expected(const Case& of, std::uint64_t round) {
  if (has_tails(of.model)) return simulated(of, round);
  Steady mean;
  for (std::uint64_t seed = 1; seed <= kSimulations; ++seed) {
    const Steady one = simulated(of, seed);
    mean.splits_per_second += one.splits_per_second / kSimulations;
    mean.fed_workers += one.fed_workers / kSimulations;
    mean.actors += one.actors / kSimulations;
  }
  return mean;
}

Status emulate_once(Case& of, std::uint64_t seed) {
  const auto one_node = tuner::as_one_node(of.model);
  const EmulationSpec spec{.model = one_node ? *one_node : of.model,
                           .allocation = of.allocation,
                           .seconds = of.seconds,
                           .seed = seed,
                           .policy = policy()};
  const EmulationHooks hooks{.stopped = [] { return false; }, .show = [](const auto&) {}};
  const auto outcome = (one_node ? emulate : emulate_world)(spec, hooks);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  of.kept_time = of.kept_time || outcome->lateness.is_made_up_for();
  of.rounds.push_back(
      {.simulated = expected(of, seed),
       .emulated = {.splits_per_second = outcome->figures.splits_per_second(),
                    .fed_workers = outcome->fed_workers.value_or(0),
                    .actors = static_cast<double>(outcome->figures.allocation.total_actors())}});
  return {};
}

/// The columns of a run that a policy tuned.
std::string tuned_columns(const Case& of, const Case::Round& round) {
  const double bound = tuner::rate_bound(tuner::steady_part(of.model));
  char text[128];
  std::snprintf(text, sizeof text, " %.3f | %.1f, %.1f | %.0f |",
                round.emulated.splits_per_second / bound, round.simulated.fed_workers,
                round.emulated.fed_workers, round.simulated.actors);
  return text;
}

/// Prints a line of the table; returns whether the ratio is as near to 1 as it must be.
bool report(Case& of) {
  std::ranges::sort(of.rounds, {}, &Case::Round::ratio);
  const Case::Round& median = of.rounds[of.rounds.size() / 2];
  std::printf("| %s | %zu | %.0f | %.1f | %.1f | %.3f | %.3f to %.3f%s |%s\n",
              of.model.name.c_str(), tuner::nodes_of(of.model).size(), median.emulated.actors,
              median.simulated.splits_per_second, median.emulated.splits_per_second, median.ratio(),
              of.rounds.front().ratio(), of.rounds.back().ratio(),
              of.kept_time ? "" : "; threads woke late",
              policy().empty() ? "" : tuned_columns(of, median).c_str());
  return !of.kept_time || std::abs(median.ratio() - 1) <= kMostApart;
}

int fail_with(const Error& error) {
  std::fprintf(stderr, "world_agreement: %s\n", error.message.c_str());
  return 2;
}

int run(const std::vector<std::string>& arguments) {
  const double seconds = setting("SECONDS", 16);
  std::vector<Case> cases;
  for (const std::string& argument : arguments) {
    auto made = case_of(argument, seconds);
    if (!made) return fail_with(made.error());
    cases.push_back(std::move(*made));
  }
  const auto rounds = static_cast<std::uint64_t>(setting("ROUNDS", 3));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (Case& each : cases) {
      if (const auto status = emulate_once(each, round); !status) return fail_with(status.error());
    }
  }
  const bool tunes = !policy().empty();
  std::printf("| world | nodes | actors | simulated | emulated | ratio | rounds |%s\n|%s%s\n",
              tunes ? " over the bound | workers | actors, simulated |" : "",
              "---|---|---|---|---|---|---|", tunes ? "---|---|---|" : "");
  bool agree = true;
  for (Case& each : cases) agree = report(each) && agree;
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace forebay

int main(int count, char** words) {
  const std::vector<std::string> files(words + 1, words + count);
  if (!files.empty()) return forebay::run(files);
  std::fprintf(stderr, "usage: world_agreement FILE[:ALLOCATION]...\n");
  return 2;
}
