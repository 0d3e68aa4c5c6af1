#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "engine/emulated/world_emulation.h"
#include "engine/job/quantity.h"
#include "engine/modelled/best_file.h"
#include "engine/modelled/emulation.h"
#include "engine/modelled/modelled_figures.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/modelled/simulation.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/inspect/text_table.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/progress.h"
#include "tuner/live/tuner_actor.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

/// Arguments common to all commands that run a modelled pipeline.
struct ModelledRun {
  tuner::PipelineModel model;
  tuner::Allocation allocation;
  double seconds = 0;
  std::uint64_t seed = 1;
};

std::optional<double> positive_seconds(const std::string& text) {
  const auto time = parse_duration(text);
  return time && time->count() > 0 ? std::optional(in_seconds(*time)) : std::nullopt;
}

/// Reads the file and --allocation, --prefetch, --seconds and --seed. `usual_seconds` returns the
/// length of a run without --seconds, `find_best` the best allocation of a world.
Result<ModelledRun> read_modelled_run(const Invocation& invocation,
                                      double (*usual_seconds)(const tuner::PipelineModel&),
                                      const tuner::FindBest& find_best) {
  auto model = load_pipeline(invocation.arguments.front());
  if (!model) return pass(model);
  const std::string text = invocation.value("--allocation");
  auto allocation = text == "oracle"
                        ? Result<tuner::Allocation>(oracle_allocation(*model, find_best))
                        : parse_allocation(text, *model);
  if (!allocation) return pass(allocation);
  const double seconds = usual_seconds(*model);
  ModelledRun run{std::move(*model), std::move(*allocation), seconds, 1};
  OptionReader read(invocation);
  read.count("--prefetch", run.allocation.prefetch, 1, std::numeric_limits<std::uint32_t>::max())
      .value("--seconds", run.seconds, "a time such as 600 or 10m, above 0 and at most 100 years",
             positive_seconds)
      .count("--seed", run.seed, 0, std::numeric_limits<std::int64_t>::max());
  if (auto status = read.status(); !status) return pass(status);
  return run;
}

std::string describe_ratio(const ModelledFigures& figures) {
  const auto ratio = figures.ratio();
  if (!ratio) return "not compared: the search for the best allocation was stopped";
  return format_number(100 * *ratio, 1) + " % of the oracle's " +
         format_number(*figures.oracle_splits_per_second, 2);
}

void print_figures(const ModelledFigures& figures, const tuner::PipelineModel& model) {
  const double rate = figures.splits_per_second();
  std::printf(
      "%s: %.2f splits/s (%s rows/s), %s\n", printable(model.name).c_str(), rate,
      format_count(static_cast<std::uint64_t>(rate * static_cast<double>(model.rows_per_split)))
          .c_str(),
      describe_ratio(figures).c_str());
  std::printf("%u actors, prefetch %u; %.1f of %g CPUs busy; trainer waits %.1f %% of the time\n",
              figures.allocation.total_actors(), figures.allocation.prefetch, figures.cpus_used(),
              figures.measured.limits.cpus, 100 * figures.starved_ratio());
  std::printf("memory: at most %s of %s%s\n", format_size(figures.peak_memory_bytes).c_str(),
              format_size(figures.measured.limits.memory_bytes).c_str(),
              figures.out_of_memory ? ": OUT OF MEMORY, the run ended there" : "");
  std::printf("measured over %.0f s, until %.0f s\n\n", figures.measured.seconds,
              figures.measured.at_seconds);
  for (const std::string& line : align_columns(stage_rows(figures, model))) {
    print_line(line);
  }
}

double usual_emulation_seconds(const tuner::PipelineModel&) { return 20; }

Result<std::chrono::nanoseconds> period_of(const Invocation& invocation) {
  const std::string text = invocation.value("--period", "2s");
  if (invocation.has("--period") && !invocation.has("--policy")) {
    return fail(Code::kInvalid, "--period " + text + ": is a policy's; name one with --policy");
  }
  const auto period = parse_duration(text);
  if (period && *period >= tuner::TunerActor::kStep) return *period;
  return fail(Code::kInvalid, "--period " + text + ": must be a time of at least 100ms");
}

std::string describe(const EmulationView& view, const EmulationSpec& spec) {
  char figures[160];
  std::snprintf(figures, sizeof figures, "%.0f of %.0f s, %.1f splits/s, %.1f of %g CPUs, ",
                view.seconds, spec.seconds, view.splits_per_second, view.cpus_busy,
                view.limits.cpus);
  std::string line = figures + format_size(view.memory_bytes) + " of " +
                     format_size(view.limits.memory_bytes) + " |";
  const std::vector<std::string> names = tuner::line_names(spec.model);
  for (std::size_t i = 0; i < view.allocation.actors.size(); ++i) {
    line += " " + names[i] + " " + std::to_string(view.allocation.actors[i]);
  }
  line += " prefetch " + std::to_string(view.allocation.prefetch);
  if (view.decisions == 0) return line;
  return line + " | decision " + std::to_string(view.decisions) +
         (view.reason.empty() ? "" : ": " + view.reason);
}

JsonObject json_of(const EmulationOutcome& outcome, const EmulationSpec& spec) {
  JsonObject json = json_of(outcome.figures, spec.model);
  json.add("seconds", outcome.figures.measured.at_seconds)
      .add("wake_lateness_seconds", outcome.lateness.mean_seconds())
      .add("kept_time", outcome.lateness.is_made_up_for());
  if (spec.policy.empty()) return json;
  json.add("policy", spec.policy)
      .add("decisions", outcome.decisions)
      .add("decisions_guarded", outcome.guarded)
      .add("tuner_cpu_share", outcome.tuner_cpu_share);
  if (outcome.fed_workers) json.add("fed_workers", *outcome.fed_workers);
  return json;
}

void print(const EmulationOutcome& outcome, const EmulationSpec& spec) {
  print_figures(outcome.figures, spec.model);
  if (spec.policy.empty()) return;
  std::printf("\n%s: %s, %s of them changed by the guard; %.2f %% of a core\n", spec.policy.c_str(),
              format_counted(outcome.decisions, "decision").c_str(),
              format_count(outcome.guarded).c_str(), 100 * outcome.tuner_cpu_share);
}

void warn_of_lateness(const EmulationOutcome& outcome) {
  if (outcome.lateness.is_made_up_for()) return;
  std::fprintf(stderr,
               "forebay: this machine has too much else to do: threads woke %.1f ms late "
               "(%.0f ms at worst), and the figures are its own\n",
               1e3 * outcome.lateness.mean_seconds(), 1e3 * outcome.lateness.worst_seconds);
}

/// A search may take a minute, so a line tells the user about it once.
BestFile best_file_of(const Invocation& invocation) {
  const std::string path = invocation.arguments.front();
  const auto say = [path, told = false]() mutable {
    if (!told) print_message("searching the best allocation of " + path);
    told = true;
  };
  return BestFile(path, {.stopped = [] { return StopRequest::requested(); }, .on_search = say});
}

void warn_of_lost_search(const BestFile& best) {
  if (best.kept()) return;
  print_message("the best allocation is searched again next time: " + best.kept().error().message);
}

}  // namespace

Exit run_simulate(const Invocation& invocation) {
  BestFile best = best_file_of(invocation);
  const SimulationContext context{
      .find_best = [&](const tuner::PipelineModel& steady) { return best.find(steady); },
      .stop = [] { return StopRequest::requested(); }};
  const auto run = read_modelled_run(invocation, usual_seconds, context.find_best);
  if (!run) return Exit::refused(run.error());
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  const ModelledFigures figures =
      simulate(run->model, run->allocation, run->seconds, run->seed, context);
  warn_of_lost_search(best);
  print_result(invocation, json_of(figures, run->model),
               [&] { print_figures(figures, run->model); });
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

Exit run_emulate(const Invocation& invocation) {
  BestFile best = best_file_of(invocation);
  const tuner::FindBest find_best = [&](const tuner::PipelineModel& steady) {
    return best.find(steady);
  };
  const auto run = read_modelled_run(invocation, usual_emulation_seconds, find_best);
  if (!run) return Exit::refused(run.error());
  const auto period = period_of(invocation);
  if (!period) return Exit::refused(period.error());
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  const auto one_node = tuner::as_one_node(run->model);
  const EmulationSpec spec{.model = one_node ? *one_node : run->model,
                           .allocation = run->allocation,
                           .seconds = run->seconds,
                           .seed = run->seed,
                           .policy = invocation.value("--policy"),
                           .find_best = find_best,
                           .period = *period};
  StatusLine line;
  const auto outcome = (one_node ? emulate : emulate_world)(
      spec, {.stopped = [] { return StopRequest::requested(); },
             .show =
                 [&](const EmulationView& view) {
                   if (line.is_due()) line.show(describe(view, spec));
                 }});
  line.clear();
  if (!outcome) return Exit::of(outcome.error(), Code::kInvalid);
  warn_of_lateness(*outcome);
  print_result(invocation, json_of(*outcome, spec), [&] { print(*outcome, spec); });
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

}  // namespace forebay
