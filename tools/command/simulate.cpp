#include "engine/modelled/simulation.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/command/modelled_arguments.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {

Exit run_simulate(const Invocation& invocation) {
  const auto run = read_modelled_run(invocation, usual_seconds);
  if (!run) return Exit::refused(run.error());
  const ModelledFigures figures = simulate(run->model, run->allocation, run->seconds, run->seed,
                                           [] { return StopRequest::requested(); });
  if (invocation.has("--json")) {
    print_json(json_of(figures, run->model));
  } else {
    print_figures(figures, run->model);
  }
  return StopRequest::requested() ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

}  // namespace forebay
