// Counts the disturbances from which a policy never recovers, on random simulated pipelines whose
// work changes for good, for the authors of policies.
//
//   stress_scores [PIPELINES [POLICY…]]       60 pipelines; intune, greedy and oracle
//   stress_scores --files FILE…               these pipelines
//   FIRST=1001 SEEDS=3 VERBOSE=1 …            other pipelines; seeds each; a line a failure
//   BY_PIPELINE=1 …                           a line a run: ratio, and where it lost the rest
//   SAVE=FOLDER …                             the pipelines as files for `forebay tune compare`
//   SPACED=1 …                                pipelines with less noise and later disturbances
//
// A disturbance counts as never recovered if no three periods before the next one reach 95 % of the
// oracle's rate; it does not count where the next one comes within 60 s and the policy `oracle`,
// with the same seed, misses it as well.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/modelled/pipeline_file.h"
#include "tests/tuner/stress_pipeline.h"
#include "tuner/compare/comparison.h"
#include "tuner/compare/summary.h"
#include "tuner/sim/simulator.h"

namespace forebay::tuner {
namespace {

constexpr double kSoon = 60;  // seconds between two disturbances

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The command line's options.
struct Asked {
  std::vector<PipelineModel> pipelines;
  std::vector<std::string> policies;
};

Result<Asked> asked_for(int count, char** words) {
  Asked asked;
  if (count > 1 && std::string(words[1]) == "--files") {
    for (int i = 2; i < count; ++i) {
      Result<PipelineModel> model = load_pipeline(words[i]);
      if (!model) return pass(model);
      asked.pipelines.push_back(std::move(*model));
    }
  } else {
    const std::uint64_t first = setting("FIRST", 1);
    const std::uint64_t number = count > 1 ? std::strtoull(words[1], nullptr, 10) : 60;
    const bool spaced = setting("SPACED", 0) != 0;
    for (std::uint64_t seed = first; seed < first + number; ++seed) {
      asked.pipelines.push_back(spaced ? stress_pipeline(seed, StressFamily::kSpaced)
                                       : stress_pipeline(seed));
    }
    for (int i = 2; i < count; ++i) asked.policies.emplace_back(words[i]);
  }
  if (asked.policies.empty()) asked.policies = {"intune", "greedy", "oracle"};
  return asked;
}

std::string words_for(const PipelineModel& model, double at_seconds) {
  std::string text;
  const auto add = [&](const char* what, double value) {
    char part[96];
    std::snprintf(part, sizeof part, " %s %.4g", what, value);
    text += part;
  };
  for (const ModelEvent& event : model.events) {
    if (event.at_seconds != at_seconds) continue;
    if (event.stage) text += " " + model.stages[*event.stage].name;
    if (event.seconds_factor) add("seconds x", *event.seconds_factor);
    if (event.max_rate) add("max_rate", *event.max_rate);
    if (event.cpus) add("cpus", *event.cpus);
    if (event.memory_bytes) add("memory", static_cast<double>(*event.memory_bytes));
    if (event.trainer_step_seconds) add("trainer", *event.trainer_step_seconds);
  }
  return text;
}

// The runs of one policy, and how its disturbances ended.
struct Score {
  std::vector<double> overall;
  std::size_t events = 0;
  std::size_t never = 0;
  std::size_t counted = 0;
  std::size_t out_of_memory = 0;
  double most_seconds = 0;  // per decision
};

using OracleRuns = std::map<std::pair<std::string, std::uint64_t>, const ComparedRun*>;

void add_run(Score& score, const ComparedRun& run, const PipelineModel& model,
             const OracleRuns& oracle) {
  score.overall.push_back(run.figures.ratio_overall);
  score.out_of_memory += run.out_of_memory ? 1 : 0;
  score.most_seconds = std::max(score.most_seconds, run.record.seconds_per_decision);
  const auto& recoveries = run.figures.recoveries;
  for (std::size_t i = 0; i < recoveries.size(); ++i) {
    ++score.events;
    if (recoveries[i].decisions_to_95) continue;
    ++score.never;
    const double next = i + 1 < recoveries.size() ? recoveries[i + 1].at_seconds
                                                  : std::numeric_limits<double>::infinity();
    const bool soon = next - recoveries[i].at_seconds <= kSoon;
    const auto best = oracle.find({run.pipeline, run.seed});
    const bool missed =
        best != oracle.end() && !best->second->figures.recoveries[i].decisions_to_95.has_value();
    if (soon && missed) continue;
    ++score.counted;
    if (setting("VERBOSE", 0) == 0) continue;
    std::printf("%-10s %-14s seed %llu at %5.0f%s; overall %.3f%s\n", run.policy.c_str(),
                run.pipeline.c_str(), static_cast<unsigned long long>(run.seed),
                recoveries[i].at_seconds, words_for(model, recoveries[i].at_seconds).c_str(),
                run.figures.ratio_overall, missed ? ", the oracle misses it too" : "");
  }
}

void print_by_pipeline(const ComparedRun& run) {
  std::printf("%-12s %-16s seed %llu: %.4f; start %.4f, after events %.4f, steady %.4f\n",
              run.policy.c_str(), run.pipeline.c_str(), static_cast<unsigned long long>(run.seed),
              run.figures.ratio_overall, run.shortfall.start, run.shortfall.after_events,
              run.shortfall.steady);
}

void save(const std::vector<PipelineModel>& pipelines) {
  const char* folder = std::getenv("SAVE");
  if (folder == nullptr) return;
  for (const PipelineModel& model : pipelines) {
    const Status saved = save_pipeline(model, std::string(folder) + "/" + model.name + ".toml");
    if (!saved) std::fprintf(stderr, "%s\n", saved.error().message.c_str());
  }
}

int run(int count, char** words) {
  Result<Asked> asked = asked_for(count, words);
  if (!asked) {
    std::fprintf(stderr, "%s\n", asked.error().message.c_str());
    return 2;
  }
  save(asked->pipelines);
  const ComparisonOptions options{.pipelines = asked->pipelines,
                                  .policies = asked->policies,
                                  .seeds = setting("SEEDS", 1),
                                  .make_machine = simulated_machines(),
                                  .threads = static_cast<int>(setting("THREADS", 1)),
                                  .keep_periods = false};
  if (const Status ready = check_comparison(options); !ready) {
    std::fprintf(stderr, "%s\n", ready.error().message.c_str());
    return 2;
  }
  const std::vector<ComparedRun> runs = *compare(options);  // simulated: no error
  if (setting("BY_PIPELINE", 0) != 0) std::for_each(runs.begin(), runs.end(), print_by_pipeline);
  OracleRuns oracle;
  for (const ComparedRun& one : runs) {
    if (one.policy == "oracle") oracle[{one.pipeline, one.seed}] = &one;
  }
  std::map<std::string, const PipelineModel*> models;
  for (const PipelineModel& model : asked->pipelines) models[model.name] = &model;
  std::map<std::string, Score> scores;
  for (const ComparedRun& one : runs) {
    add_run(scores[one.policy], one, *models[one.pipeline], oracle);
  }
  std::printf("%-16s %6s %6s %8s  %22s  %4s  %9s\n", "policy", "events", "never", "counted",
              "ratio_overall", "out", "us, most");
  for (const std::string& policy : options.policies) {
    const Score& score = scores[policy];
    const Distribution overall = distribution_of(score.overall);
    std::printf("%-16s %6zu %6zu %8zu  %7.4f %6.3f %6.3f  %4zu  %9.0f\n", policy.c_str(),
                score.events, score.never, score.counted, overall.mean, overall.median, overall.p5,
                score.out_of_memory, 1e6 * score.most_seconds);
  }
  return 0;
}

}  // namespace
}  // namespace forebay::tuner

int main(int count, char** words) { return forebay::tuner::run(count, words); }
