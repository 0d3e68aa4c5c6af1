#include "tuner/compare/comparison.h"

#include <utility>

#include "core/base/parallel.h"

namespace forebay::tuner {
namespace {

RunRequest request_of(const ComparisonOptions& options, std::size_t number) {
  const std::size_t per_policy = options.seeds;
  const std::size_t per_pipeline = per_policy * options.policies.size();
  return {.model = options.pipelines[number / per_pipeline],
          .policy = options.policies[number % per_pipeline / per_policy],
          .seed = number % per_policy + 1,
          .decisions = options.decisions,
          .weights = options.weights};
}

bool wants_stop(const ComparisonOptions& options) { return options.stopped && options.stopped(); }

}  // namespace

std::uint64_t runs_of(const ComparisonOptions& options) {
  return options.pipelines.size() * options.policies.size() * options.seeds;
}

Status check_comparison(const ComparisonOptions& options) {
  for (std::size_t number = 0; number < runs_of(options); number += options.seeds) {
    if (auto checked = check_run(request_of(options, number)); !checked) return checked;
  }
  return {};
}

std::vector<ComparedRun> compare(const ComparisonOptions& options) {
  std::vector<std::optional<ComparedRun>> runs(runs_of(options));
  SharedCount done;
  for_each_in_parallel(runs.size(), options.threads, [&](std::size_t number) {
    if (wants_stop(options)) return;
    ComparedRun run = run_one(request_of(options, number), options.make_machine,
                              [&options] { return wants_stop(options); });
    if (run.record.stopped) return;
    if (!options.keep_periods) run.record.trace = {};
    runs[number] = std::move(run);
    const std::uint64_t count = done.add(1);
    if (options.progress) options.progress(count);
  });
  std::vector<ComparedRun> complete;
  for (auto& run : runs) {
    if (run) complete.push_back(std::move(*run));
  }
  return complete;
}

}  // namespace forebay::tuner
