// Runs worlds in the simulator and on the emulated machine, and compares their rates.
//
//   world_agreement FILE[:ALLOCATION]…        the allocation as in `forebay simulate --allocation`
//   ROUNDS=3 SECONDS=16 …                     runs of each file, and the length of a run
//
// A round emulates every file once and compares it with the mean of simulations of the same
// seconds, because a single run of noisy work is no yardstick. Where splits have tails, a mean
// would take hours: there a round is compared with the simulation of its own seed, which draws the
// same tails, and lasts for 40 s at least. Both count from the middle of a run to its end; where
// the trainer pauses, a run lasts for two periods of the pauses. Prints the median of the rounds,
// and ends with 1 where a ratio is more than 5 % from 1 although threads woke in time.

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
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay {
namespace {

constexpr double kMostApart = 0.05;
constexpr std::uint64_t kSimulations = 16;  // seeds
constexpr double kTailSeconds = 40;

// The allocations for which the known answers of the small worlds hold.
const std::map<std::string, std::string>& usual_allocations() {
  static const std::map<std::string, std::string> usual = {{"two-stages-one-server", "a=16,b=8"},
                                                           {"memory-bandwidth", "a=8"},
                                                           {"thin-link", "a=4,b=2"},
                                                           {"slow-node", "a=8"},
                                                           {"paused-trainer", "a=8"},
                                                           {"tails-in-order", "a=10"}};
  return usual;
}

double setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

struct Case {
  std::string file;
  tuner::PipelineModel model;
  tuner::Allocation allocation;
  double seconds = 0;
  struct Round {
    double simulated = 0;  // splits/s
    double emulated = 0;
    double ratio() const { return simulated > 0 ? emulated / simulated : 0; }
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
  const auto usual = usual_allocations().find(model->name);
  if (text.empty() && usual != usual_allocations().end()) text = usual->second;
  auto allocation = parse_allocation(text, *model);
  if (!allocation) return pass(allocation);
  if (text.empty()) std::ranges::fill(allocation->actors, 4U);
  if (has_tails(*model)) seconds = std::max(seconds, kTailSeconds);
  if (model->pause) seconds = std::max(seconds, 2 * model->pause->every);
  return Case{argument.substr(0, end), std::move(*model), std::move(*allocation), seconds};
}

double simulated(const Case& of, std::uint64_t seed) {
  const auto machine = tuner::simulator_for(of.model, seed);
  machine->apply(of.allocation);
  machine->run_until(of.seconds / 2);
  const std::uint64_t before = machine->totals().trained;
  machine->run_until(of.seconds);
  return static_cast<double>(machine->totals().trained - before) / (of.seconds / 2);
}

double expected(const Case& of, std::uint64_t round) {
  if (has_tails(of.model)) return simulated(of, round);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSimulations; ++seed) sum += simulated(of, seed);
  return sum / static_cast<double>(kSimulations);
}

Status emulate_once(Case& of, std::uint64_t seed) {
  const auto one_node = tuner::as_one_node(of.model);
  const EmulationSpec spec{.model = one_node ? *one_node : of.model,
                           .allocation = of.allocation,
                           .seconds = of.seconds,
                           .seed = seed,
                           .policy = ""};
  const EmulationHooks hooks{.stopped = [] { return false; }, .show = [](const auto&) {}};
  const auto outcome = (one_node ? emulate : emulate_world)(spec, hooks);
  if (!outcome) return tl::unexpected<Error>(outcome.error());
  of.kept_time = of.kept_time || outcome->kept_time;
  of.rounds.push_back({expected(of, seed), outcome->figures.splits_per_second()});
  return {};
}

/// Prints a line of the table; returns whether the ratio is as near to 1 as it must be.
bool report(Case& of) {
  std::ranges::sort(of.rounds, {}, &Case::Round::ratio);
  const Case::Round& median = of.rounds[of.rounds.size() / 2];
  std::printf("| %s | %zu | %u | %.1f | %.1f | %.3f | %.3f to %.3f%s |\n", of.model.name.c_str(),
              tuner::nodes_of(of.model).size(), of.allocation.total_actors(), median.simulated,
              median.emulated, median.ratio(), of.rounds.front().ratio(), of.rounds.back().ratio(),
              of.kept_time ? "" : "; threads woke late");
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
  std::printf("| world | nodes | actors | simulated | emulated | ratio | rounds |\n|%s\n",
              "---|---|---|---|---|---|---|");
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
