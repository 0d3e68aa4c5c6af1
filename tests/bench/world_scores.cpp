// Measures policies on random worlds of one node that a planner's equations cannot say, for the
// authors of policies.
//
//   world_scores [WORLDS [POLICY…]]           40 worlds; intune:no-network, intune
//   FIRST=1001 SEEDS=3 THREADS=2 …            other worlds; seeds each; at once
//   HARD=0.9 …                                only where the first policy stays at or below
//   KEEP=FILE …                               remembers the best known allocations there
//   BY_WORLD=1 JSON=1 …                       a line a world; one JSON object instead of tables
//   BY_WORLD=2 …                              a line a run: where it ended, and the best
//
// The best known allocation is found by local search with one seed; it and the policies are then
// measured with other seeds: splits trained after 30 of 60 decisions over those of the best known
// with the same seed. A gain is the difference to the first policy, by pairs of the same world and
// seed, with 95 % bounds over worlds.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/thread/parallel.h"
#include "tests/tuner/hard_world.h"
#include "tuner/compare/world_run.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kDecisions = 60;
constexpr std::uint64_t kFirstSeed = 2;  // The search's is 1.

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

double share_setting(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

/// Best known allocations by world, each span as a line of numbers.
class Kept {
 public:
  explicit Kept(const char* path) : path_(path == nullptr ? "" : path) {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      OracleSpan span;
      words >> name >> span.from_seconds >> span.best.splits_per_second >> span.growth >>
          span.best.allocation.prefetch;
      for (std::uint32_t actors = 0; words >> actors;) {
        span.best.allocation.actors.push_back(actors);
      }
      lines_[name].push_back(std::move(span));
    }
  }

  const std::vector<OracleSpan>* find(const std::string& name) const {
    const auto found = lines_.find(name);
    return found == lines_.end() ? nullptr : &found->second;
  }

  void add(const std::string& name, const std::vector<OracleSpan>& line) const {
    if (path_.empty()) return;
    std::ostringstream text;
    text.precision(std::numeric_limits<double>::max_digits10);
    for (const OracleSpan& span : line) {
      text << name << ' ' << span.from_seconds << ' ' << span.best.splits_per_second << ' '
           << span.growth << ' ' << span.best.allocation.prefetch;
      for (const std::uint32_t actors : span.best.allocation.actors) text << ' ' << actors;
      text << '\n';
    }
    std::ofstream(path_, std::ios::app) << text.str();
  }

 private:
  std::string path_;
  std::map<std::string, std::vector<OracleSpan>> lines_;
};

/// What a policy reached on a world, over seeds.
struct Reached {
  double ratio = 0;       ///< After 30 decisions, mean over seeds.
  std::size_t never = 0;  ///< Runs that never reached 95 %.
  std::size_t out_of_memory = 0;
};

struct WorldResult {
  std::string name;
  std::string family;
  std::vector<Reached> reached;  ///< By policy.
};

ComparedRun run_of(const PipelineModel& model, const std::string& policy, std::uint64_t seed,
                   const std::vector<OracleSpan>& line) {
  const RunRequest request{.model = model, .policy = policy, .seed = seed, .decisions = kDecisions};
  if (is_world(model)) return *run_world(request, line, simulated_worlds(), {});
  return run_one(request, simulated_machines(), {});
}

std::vector<OracleSpan> line_of(const PipelineModel& model) {
  return world_line({.model = model,
                     .policy = "oracle",
                     .decisions = kDecisions,
                     .find_best = [](const PipelineModel& steady) { return find_best(steady); }});
}

void print_end(const ComparedRun& run, const std::vector<OracleSpan>& line) {
  const Period& last = run.record.trace.periods.back();
  std::string text = run.pipeline + " " + run.policy + ":";
  const auto add = [&](std::uint32_t number) { text += " " + std::to_string(number); };
  std::ranges::for_each(last.actors, add);
  text += " prefetch";
  add(last.prefetch);
  text += "; best:";
  std::ranges::for_each(line.back().best.allocation.actors, add);
  text += " prefetch";
  add(line.back().best.allocation.prefetch);
  std::printf("%s\n", text.c_str());
}

WorldResult judged(std::uint64_t number, const std::vector<std::string>& policies,
                   const std::vector<OracleSpan>& line) {
  const PipelineModel model = hard_world(number);
  const std::uint64_t seeds = setting("SEEDS", 1);
  WorldResult result{.name = model.name, .family = name_of(hard_family(number)), .reached = {}};
  std::vector<double> best;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + seeds; ++seed) {
    best.push_back(run_of(model, "oracle", seed, line).figures.ratio_after_30.value_or(0));
  }
  for (const std::string& policy : policies) {
    Reached reached;
    for (std::uint64_t k = 0; k < seeds; ++k) {
      const ComparedRun run = run_of(model, policy, kFirstSeed + k, line);
      if (setting("BY_WORLD", 0) > 1) print_end(run, line);
      const double ratio = run.figures.ratio_after_30.value_or(0);
      reached.ratio += ratio / std::max(best[k], 1e-9) / static_cast<double>(seeds);
      reached.never += run.figures.decisions_to_95 ? 0 : 1;
      reached.out_of_memory += run.out_of_memory ? 1 : 0;
    }
    result.reached.push_back(reached);
    if (result.reached.front().ratio > share_setting("HARD", 10)) break;
  }
  return result;
}

struct Bounds95 {
  double mean = 0;
  double low = 0;
  double high = 0;
};

Bounds95 bounds_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(std::max<std::size_t>(1, values.size()));
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = count > 1 ? 1.96 * std::sqrt(squares / (count - 1) / count) : 0;
  return {mean, mean - error, mean + error};
}

struct Summary {
  Bounds95 ratio;
  Bounds95 gain;
  double least = 0;
  std::size_t never = 0;
  std::size_t out_of_memory = 0;
};

Summary summary_of(const std::vector<WorldResult>& results, std::size_t policy) {
  Summary summary;
  std::vector<double> ratios;
  std::vector<double> gains;
  for (const WorldResult& each : results) {
    ratios.push_back(each.reached[policy].ratio);
    gains.push_back(each.reached[policy].ratio - each.reached.front().ratio);
    summary.never += each.reached[policy].never;
    summary.out_of_memory += each.reached[policy].out_of_memory;
  }
  summary.ratio = bounds_of(ratios);
  summary.gain = bounds_of(gains);
  summary.least = ratios.empty() ? 0 : *std::ranges::min_element(ratios);
  return summary;
}

void print_tables(const std::vector<WorldResult>& results,
                  const std::vector<std::string>& policies) {
  std::printf("%zu worlds\n%-24s %24s %10s %26s %6s %4s\n", results.size(), "policy",
              "ratio_after_30", "least", "gain, 95 %", "never", "out");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const Summary sum = summary_of(results, p);
    std::printf("%-24s %7.3f (%6.3f to %6.3f) %10.3f  %+7.3f (%+6.3f to %+6.3f) %6zu %4zu\n",
                policies[p].c_str(), sum.ratio.mean, sum.ratio.low, sum.ratio.high, sum.least,
                sum.gain.mean, sum.gain.low, sum.gain.high, sum.never, sum.out_of_memory);
  }
}

void print_json(const std::vector<WorldResult>& results, const std::vector<std::string>& policies) {
  std::printf("{\"worlds\":%zu,\"policies\":[", results.size());
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const Summary sum = summary_of(results, p);
    std::printf(
        "%s{\"policy\":\"%s\",\"ratio_after_30\":%.6f,\"ratio_low\":%.6f,\"ratio_high\":%.6f,"
        "\"least\":%.6f,\"gain\":%.6f,\"gain_low\":%.6f,\"gain_high\":%.6f,\"never\":%zu,"
        "\"out_of_memory\":%zu}",
        p == 0 ? "" : ",", policies[p].c_str(), sum.ratio.mean, sum.ratio.low, sum.ratio.high,
        sum.least, sum.gain.mean, sum.gain.low, sum.gain.high, sum.never, sum.out_of_memory);
  }
  std::printf("]}\n");
}

void print_world(const WorldResult& result) {
  std::printf("%-22s", result.name.c_str());
  for (const Reached& reached : result.reached) std::printf(" %6.3f", reached.ratio);
  std::printf("\n");
}

int run(int count, char** words) {
  const std::uint64_t worlds = count > 1 ? std::strtoull(words[1], nullptr, 10) : 40;
  const std::uint64_t first = setting("FIRST", 1);
  std::vector<std::string> policies(words + std::min(count, 2), words + count);
  if (policies.empty()) policies = {"intune:no-network", "intune"};
  const PipelineModel any = hard_world(first);
  for (const std::string& policy : policies) {
    const RunRequest request{.model = any, .policy = policy, .decisions = kDecisions};
    if (const Status ready = check_run(request); !ready) {
      std::fprintf(stderr, "%s\n", ready.error().message.c_str());
      return 2;
    }
  }
  const Kept kept(std::getenv("KEEP"));
  std::vector<std::vector<OracleSpan>> lines(worlds);
  std::vector<WorldResult> results(worlds);
  for_each_in_parallel(worlds, static_cast<int>(setting("THREADS", 1)), [&](std::size_t i) {
    const PipelineModel model = hard_world(first + i);
    const auto* const known = kept.find(model.name);
    lines[i] = known != nullptr ? *known : line_of(model);
    results[i] = judged(first + i, policies, lines[i]);
  });
  for (std::size_t i = 0; i < worlds; ++i) {
    if (kept.find(results[i].name) == nullptr) kept.add(results[i].name, lines[i]);
  }
  // Worlds that the first policy tunes well are not judged.
  std::erase_if(results, [&](const WorldResult& each) {
    return each.reached.front().ratio > share_setting("HARD", 10);
  });
  if (setting("BY_WORLD", 0) != 0) std::ranges::for_each(results, print_world);
  setting("JSON", 0) != 0 ? print_json(results, policies) : print_tables(results, policies);
  return 0;
}

}  // namespace
}  // namespace forebay::tuner

int main(int count, char** words) { return forebay::tuner::run(count, words); }
