#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/transform/transform.h"
#include "core/base/text/printable.h"
#include "engine/plan/plan_report.h"
#include "engine/report/json_object.h"
#include "engine/run/job_run.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/inspect/text_table.h"
#include "tools/process/process_end.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

constexpr std::size_t kMostNames = 4;

std::string in_ns(double nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", nanoseconds);
  return text;
}

std::string names_of(const std::vector<std::string>& names) {
  if (names.empty()) return "all rows";
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    text += (i == 0 ? "" : ", ") + printable(names[i], 40);
  }
  if (names.size() > kMostNames) text += ", … (" + std::to_string(names.size()) + ")";
  return text;
}

std::string numbers_of(const std::vector<std::size_t>& operators) {
  std::string text;
  for (const std::size_t number : operators) {
    text += (text.empty() ? "" : ", ") + std::to_string(number + 1);
  }
  return text;
}

void print_steps(const char* title, const std::vector<PlannedStep>& steps) {
  std::vector<std::vector<std::string>> rows{
      {title, "operator", "stage", "predicted", "measured", "columns"}};
  double predicted = 0;
  std::optional<double> measured;
  for (const PlannedStep& step : steps) {
    rows.push_back({"  " + numbers_of(step.operators), step.name, step.stage, in_ns(step.predicted),
                    step.measured ? in_ns(*step.measured) : "-", names_of(step.columns)});
    predicted += step.predicted;
    if (step.measured) measured = measured.value_or(0) + *step.measured;
  }
  rows.push_back({"  all", "", "", in_ns(predicted), measured ? in_ns(*measured) : "-",
                  "nanoseconds of CPU a row"});
  for (const std::string& line : align_columns(rows)) std::printf("%s\n", line.c_str());
}

}  // namespace

Exit run_plan(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  DatasetOptions options = dataset_options(*job, terminal_events().hooks());
  options.random_access = false;  // needs no decompressed copies
  auto dataset = open_dataset(job->dataset, job->columns, options);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!dataset) return Exit::unprepared(dataset.error());
  auto plan = TransformPlan::compile(job->transforms, (*dataset)->format().schema(),
                                     {.optimize = job->pipeline.optimize});
  if (!plan) return Exit::refused(plan.error());
  recall_plan_costs(plan_costs_path(job->run.dir), *plan);
  return print_result(invocation, plan_json(*plan), [&] {
    print_steps("as written", plan->as_written());
    print_steps("as run", plan->as_run());
  });
}

}  // namespace forebay
