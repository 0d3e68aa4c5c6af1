// Compares policies on random simulated pipelines, for the authors of policies.
//
//   policy_scores [PIPELINES [POLICY…]]       100 pipelines, every policy
//   FIRST=1001 EVENTS=1 BY_PIPELINE=1 …       other pipelines; with disturbances; a line a run

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tuner/compare/comparison.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

namespace forebay::tuner {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<PipelineModel> pipelines(std::uint64_t count) {
  const std::uint64_t first = setting("FIRST", 1);
  std::vector<PipelineModel> models;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    models.push_back(random_pipeline(seed, {.events = setting("EVENTS", 0) != 0}));
  }
  return models;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void print_by_pipeline(const ComparedRun& run) {
  std::printf("%-24s %-16s %6.3f %6.3f %4.0f%s\n", run.pipeline.c_str(), run.policy.c_str(),
              run.figures.ratio_overall, run.figures.ratio_after_30.value_or(0),
              static_cast<double>(run.figures.decisions_to_95.value_or(99)),
              run.out_of_memory ? "  out of memory" : "");
}

void print_summary(const std::string& policy, const std::vector<const ComparedRun*>& runs) {
  std::vector<double> overall;
  std::vector<double> later;
  std::vector<double> decisions;
  std::vector<double> microseconds;
  long out_of_memory = 0;
  for (const ComparedRun* run : runs) {
    overall.push_back(run->figures.ratio_overall);
    later.push_back(run->figures.ratio_after_30.value_or(0));
    decisions.push_back(static_cast<double>(run->figures.decisions_to_95.value_or(99)));
    microseconds.push_back(1e6 * run->record.seconds_per_decision);
    out_of_memory += run->out_of_memory ? 1 : 0;
  }
  const auto reached =
      std::count_if(decisions.begin(), decisions.end(), [](double k) { return k < 99; });
  std::printf("%-16s %7.4f %6.3f %6.3f  %7.4f %6.3f %6.3f  %4.0f %4.0f %5.2f  %4ld  %7.0f\n",
              policy.c_str(), mean(overall), quantile(overall, 0.5), quantile(overall, 0.05),
              mean(later), quantile(later, 0.5), quantile(later, 0.05), quantile(decisions, 0.5),
              quantile(decisions, 0.95),
              static_cast<double>(reached) / static_cast<double>(runs.size()), out_of_memory,
              mean(microseconds));
}

int run(int count, char** words) {
  ComparisonOptions options{
      .pipelines = pipelines(count > 1 ? std::strtoull(words[1], nullptr, 10) : 100),
      .policies = {words + std::min(count, 2), words + count},
      .seeds = 1,
      .make_machine = simulated_machines(),
      .threads = static_cast<int>(setting("THREADS", 1)),
      .keep_periods = false};
  if (options.policies.empty()) {
    for (const PolicyInfo& info : policies()) options.policies.emplace_back(info.name);
  }
  if (const Status ready = check_comparison(options); !ready) {
    std::fprintf(stderr, "%s\n", ready.error().message.c_str());
    return 2;
  }
  const std::vector<ComparedRun> runs = *compare(options);  // simulated: no error
  if (setting("BY_PIPELINE", 0) != 0) std::for_each(runs.begin(), runs.end(), print_by_pipeline);
  std::map<std::string, std::vector<const ComparedRun*>> by_policy;
  for (const ComparedRun& one : runs) by_policy[one.policy].push_back(&one);
  std::printf("%-16s %22s  %22s  %15s  %4s  %7s\n", "", "ratio_overall", "ratio_after_30",
              "decisions_to_95", "out", "us per");
  std::printf("%-16s %7s %6s %6s  %7s %6s %6s  %4s %4s %5s  %4s  %7s\n", "policy", "mean", "median",
              "p5", "mean", "median", "p5", "med", "p95", "share", "mem", "decision");
  for (const std::string& policy : options.policies) print_summary(policy, by_policy[policy]);
  return 0;
}

}  // namespace
}  // namespace forebay::tuner

int main(int count, char** words) { return forebay::tuner::run(count, words); }
