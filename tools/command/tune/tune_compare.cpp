#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text/counted.h"
#include "core/runtime/synchronized.h"
#include "engine/emulated/one_node_world.h"
#include "engine/job/quantity.h"
#include "engine/modelled/best_file.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/outputs/outputs.h"
#include "engine/process/machine.h"
#include "tools/command/commands.h"
#include "tools/compare/compare_result.h"
#include "tools/compare/compare_spec.h"
#include "tools/compare/report.h"
#include "tools/inspect/text_table.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/progress.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/world_simulator.h"

namespace forebay {
namespace {

constexpr std::size_t kMostRows = 120;  // rows of pipelines and policies that a terminal shows
constexpr std::uint64_t kMostSeeds = 1000;
constexpr std::uint64_t kMostDecisions = 100'000;

/// Emulated runs need real time and undisturbed cores, so they run one after another.
Status choose_machine(const Invocation& invocation, const Clock& clock,
                      tuner::ComparisonOptions& options) {
  const std::string machine = invocation.value("--machine", "simulated");
  if (machine == "simulated") {
    options.make_machine = tuner::simulated_machines();
    options.make_world = tuner::simulated_worlds();
    options.threads = available_cpus();
    return {};
  }
  if (machine == "emulated") {
    options.make_machine = emulated_machines(clock, StopRequest::source().flag());
    options.make_world = emulated_worlds(clock, StopRequest::requested);
    return {};
  }
  return fail(Code::kInvalid, "--machine " + machine + ": must be simulated or emulated");
}

/// The best allocations found before lie in .forebay beside each pipeline's file. One thread asks.
tuner::FindBest kept_best(const std::vector<std::string>& files) {
  auto kept = std::make_shared<std::map<std::string, std::unique_ptr<BestFile>>>();
  for (const std::string& file : files) {
    if (const auto model = load_pipeline(file)) {
      (*kept)[model->name] =
          std::make_unique<BestFile>(file, BestFileHooks{.stopped = StopRequest::requested});
    }
  }
  return [kept](const tuner::PipelineModel& steady) {
    const auto found = kept->find(steady.name);
    return found == kept->end() ? tuner::find_best(steady) : found->second->find(steady);
  };
}

Result<tuner::ComparisonOptions> read_options(const Invocation& invocation, const Clock& clock) {
  tuner::ComparisonOptions options;
  options.seeds = 3;
  OptionReader read(invocation);
  read.count("--seeds", options.seeds, 1, kMostSeeds)
      .count("--decisions", options.decisions, 2, kMostDecisions);
  if (auto status = read.status(); !status) return pass(status);
  auto policies = invocation.has("--policies") ? split_policies(invocation.value("--policies"))
                                               : usual_policies();
  if (!policies) return pass(policies);
  options.policies = std::move(*policies);
  if (auto chosen = choose_machine(invocation, clock, options); !chosen) return pass(chosen);
  auto pipelines = load_pipelines(invocation.arguments);
  if (!pipelines) return pass(pipelines);
  options.pipelines = std::move(*pipelines);
  if (std::ranges::any_of(options.pipelines, tuner::is_world)) {
    options.find_best = kept_best(pipeline_files(invocation.arguments));
  }
  options.weights = invocation.value("--weights");
  options.keep_periods = invocation.has("--report");
  options.stopped = StopRequest::requested;
  if (auto checked = tuner::check_comparison(options); !checked) return pass(checked);
  return options;
}

/// Shows on stderr how many runs are done. Any thread may call done().
class CompareProgress {
 public:
  CompareProgress(const Clock& clock, std::uint64_t runs)
      : clock_(clock), runs_(runs), begin_(clock.now()) {}

  void done(std::uint64_t count) {
    serial_([&] { show(count); });
  }

  void finish() { line_.clear(); }

 private:
  void show(std::uint64_t count) {
    if (!line_.is_due()) return;
    const double share = static_cast<double>(runs_ - count) / static_cast<double>(count);
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>((clock_.now() - begin_) * share);
    line_.show(format_count(count) + " of " + format_count(runs_) + " runs | " +
               format_duration(left) + " left");
  }

  const Clock& clock_;
  const std::uint64_t runs_;
  const std::chrono::nanoseconds begin_;
  Synchronized<> serial_;
  StatusLine line_;  // under the lock
};

Result<ComparisonResult> run_comparison(tuner::ComparisonOptions& options, const Clock& clock) {
  CompareProgress progress(clock, tuner::runs_of(options));
  options.progress = [&progress](std::uint64_t count) { progress.done(count); };
  auto runs = tuner::compare(options);
  progress.finish();
  if (!runs) return pass(runs);
  ComparisonResult result{.runs = std::move(*runs), .summaries = {}, .gaps = {}};
  result.summaries = tuner::summarize(result.runs);
  result.gaps = tuner::gaps_of(result.runs, options.pipelines, "intune");
  return result;
}

/// Runs in real time take long: prints how long before they begin.
void announce(const tuner::ComparisonOptions& options) {
  double seconds = 0;
  for (const tuner::PipelineModel& model : options.pipelines) {
    const std::uint64_t decisions = options.decisions.value_or(tuner::decisions_for(model));
    seconds += tuner::kPeriodSeconds * static_cast<double>(decisions);
  }
  seconds *= static_cast<double>(options.policies.size() * options.seeds);
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(seconds * 1e9));
  std::fprintf(stderr, "forebay: emulated in real time, one run after another: %s\n",
               format_duration(time).c_str());
}

std::string title_of(const Invocation& invocation, const tuner::ComparisonOptions& options) {
  return format_counted(options.policies.size(), "policy", "policies") + " on " +
         format_counted(options.pipelines.size(), "pipeline") + ", " +
         format_counted(options.seeds, "seed") + ", " + invocation.value("--machine", "simulated");
}

void print(const Table& table) {
  if (const std::string text = text_of(table); !text.empty()) std::printf("%s\n", text.c_str());
}

/// Names the policies of which some decisions were not followed.
void print_faults(const ComparisonResult& result) {
  for (const tuner::PolicySummary& summary : result.summaries) {
    if (summary.faults == 0) continue;
    std::printf("%s threw or made no sense in %s decisions, in which it was not listened to\n\n",
                summary.policy.c_str(), format_count(summary.faults).c_str());
  }
}

/// Prints a line if there was a comparison and no policy is ahead of intune.
void print_gaps(const ComparisonResult& result) {
  const bool ran =
      std::ranges::count(result.summaries, "intune", &tuner::PolicySummary::policy) > 0;
  if (ran && result.gaps.empty() && result.summaries.size() > 1) {
    std::printf("no policy is ahead of intune on any pipeline\n");
  }
  print(gap_table(result));
}

void print(const ComparisonResult& result) {
  print(summary_table(result));
  print_faults(result);
  print(recovery_table(result));
  const Table pipelines = pipeline_table(result);
  if (pipelines.rows.size() <= kMostRows) {
    print(pipelines);
  } else {
    std::printf("%zu lines of pipelines and policies: see --report or --json\n\n",
                pipelines.rows.size());
  }
  print_gaps(result);
}

/// Writes the report; prints on stderr its location and what is missing in it.
Status report(const std::string& folder, const ReportContent& content) {
  std::fprintf(stderr, "forebay: writing the report; plots take some seconds a pipeline\n");
  auto notes = write_report(folder, content, StopRequest::source().flag());
  if (!notes) return pass(notes);
  for (const std::string& note : *notes) print_message(note);
  print_message("report in " + folder + "/index.html");
  return {};
}

Status check_report(const Invocation& invocation) {
  Inputs inputs;
  for (const std::string& file : pipeline_files(invocation.arguments)) {
    inputs.add_file("a pipeline", file);
  }
  inputs.add_file("--weights", invocation.value("--weights"));
  std::vector<Output> outputs;
  for (const std::string& file : report_files(invocation.value("--report"))) {
    outputs.push_back({.name = "--report", .path = file});
  }
  return check_outputs(outputs, inputs);
}

}  // namespace

Exit run_tune_compare(const Invocation& invocation) {
  const SystemClock clock;
  auto options = read_options(invocation, clock);
  if (!options) return Exit::refused(options.error());
  const std::string folder = invocation.value("--report");
  if (invocation.has("--report")) {
    if (auto free = check_report(invocation); !free) return Exit::refused(free.error());
    if (auto ready = prepare_report(folder); !ready) return Exit::refused(ready.error());
  }
  if (invocation.value("--machine") == "emulated") announce(*options);
  auto compared = run_comparison(*options, clock);
  if (!compared) return Exit::failed(compared.error());
  const ComparisonResult& result = *compared;
  const std::uint64_t wanted = tuner::runs_of(*options);
  if (result.runs.size() < wanted) {
    std::fprintf(stderr, "forebay: stopped after %s of %s runs\n",
                 format_count(result.runs.size()).c_str(), format_count(wanted).c_str());
  }
  if (invocation.has("--report")) {
    const ReportContent content{result, options->pipelines, title_of(invocation, *options)};
    if (auto written = report(folder, content); !written) return Exit::failed(written.error());
  }
  print_result(invocation, json_of(result), [&] { print(result); });
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

Exit print_policies(const Invocation& invocation) {
  std::vector<JsonObject> list;
  std::vector<std::vector<std::string>> rows = {{"policy", "does", "follows", "when compared"}};
  for (const tuner::PolicyInfo& info : tuner::policies()) {
    rows.push_back({std::string(info.name), std::string(info.summary), std::string(info.source),
                    info.guarded_when_modelled ? "guarded" : "without the guard"});
    list.push_back(JsonObject()
                       .add("name", info.name)
                       .add("summary", info.summary)
                       .add("source", info.source)
                       .add("guarded_when_modelled", info.guarded_when_modelled));
  }
  return print_result(invocation, JsonObject().add("policies", list), [&] {
    for (const std::string& line : align_columns(rows)) std::printf("%s\n", line.c_str());
  });
}

}  // namespace forebay
