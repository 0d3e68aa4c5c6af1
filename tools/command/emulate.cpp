#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "engine/job/quantity.h"
#include "engine/modelled/emulation.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/command/modelled_arguments.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"
#include "tools/terminal/status_line.h"
#include "tuner/live/tuner_actor.h"

namespace forebay {
namespace {

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
  for (std::size_t i = 0; i < view.allocation.actors.size(); ++i) {
    line += " " + spec.model.stages[i].name + " " + std::to_string(view.allocation.actors[i]);
  }
  line += " prefetch " + std::to_string(view.allocation.prefetch);
  if (view.decisions == 0) return line;
  return line + " | decision " + std::to_string(view.decisions) +
         (view.reason.empty() ? "" : ": " + view.reason);
}

JsonObject json_of(const EmulationOutcome& outcome, const EmulationSpec& spec) {
  JsonObject json = json_of(outcome.figures, spec.model);
  json.add("seconds", outcome.figures.measured.at_seconds)
      .add("wake_lateness_seconds", outcome.lateness_seconds)
      .add("kept_time", outcome.kept_time);
  if (spec.policy.empty()) return json;
  return json.add("policy", spec.policy)
      .add("decisions", outcome.decisions)
      .add("decisions_guarded", outcome.guarded)
      .add("tuner_cpu_share", outcome.tuner_cpu_share);
}

void print(const EmulationOutcome& outcome, const EmulationSpec& spec) {
  print_figures(outcome.figures, spec.model);
  if (spec.policy.empty()) return;
  std::printf("\n%s: %s decisions, %s of them changed by the guard; %.2f %% of a core\n",
              spec.policy.c_str(), format_count(outcome.decisions).c_str(),
              format_count(outcome.guarded).c_str(), 100 * outcome.tuner_cpu_share);
}

void warn_of_lateness(const EmulationOutcome& outcome) {
  if (outcome.kept_time) return;
  std::fprintf(stderr,
               "forebay: this machine has too much else to do: threads woke %.1f ms late "
               "(%.0f ms at worst), and the figures are its own\n",
               1e3 * outcome.lateness_seconds, 1e3 * outcome.worst_lateness_seconds);
}

}  // namespace

Exit run_emulate(const Invocation& invocation) {
  const auto run = read_modelled_run(invocation, usual_emulation_seconds);
  if (!run) return Exit::refused(run.error());
  const auto period = period_of(invocation);
  if (!period) return Exit::refused(period.error());
  const EmulationSpec spec{.model = run->model,
                           .allocation = run->allocation,
                           .seconds = run->seconds,
                           .seed = run->seed,
                           .policy = invocation.value("--policy"),
                           .period = *period};
  StatusLine line;
  const auto outcome = emulate(spec, {.stopped = [] { return StopRequest::requested(); },
                                      .show =
                                          [&](const EmulationView& view) {
                                            if (line.is_due()) line.show(describe(view, spec));
                                          }});
  line.clear();
  if (!outcome) {
    return outcome.error().code == Code::kInvalid ? Exit::refused(outcome.error())
                                                  : Exit::failed(outcome.error());
  }
  warn_of_lateness(*outcome);
  if (invocation.has("--json")) {
    print_json(json_of(*outcome, spec));
  } else {
    print(*outcome, spec);
  }
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

}  // namespace forebay
