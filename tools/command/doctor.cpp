#include <cstdio>
#include <iterator>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/doctor/checks.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

void append(std::vector<Finding>& checks, std::vector<Finding> more) {
  checks.insert(checks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

Training training_of(const std::optional<JobSpec>& job) {
  if (!job) return Training::kMaybe;
  return learns(job->trainer.model) ? Training::kWanted : Training::kNo;
}

void print_checks(const std::vector<Finding>& checks, bool as_json) {
  std::vector<JsonObject> list;
  for (const Finding& check : checks) {
    list.push_back(to_json(check));
    if (!as_json) std::printf("%s\n", to_line(check).c_str());
  }
  if (as_json) print_json(JsonObject().add("checks", list));
}

}  // namespace

Exit run_doctor(const Invocation& invocation) {
  std::vector<Finding> checks;
  std::optional<JobSpec> job;
  if (!invocation.arguments.empty()) {
    auto opened = open_job(invocation);
    if (opened) {
      job = std::move(*opened);
      checks.push_back(Finding::ok("job", job->path));
    } else {
      checks.push_back(Finding::bad("job", opened.error()));
    }
  }
  append(checks, check_machine(job));
  const Training training = training_of(job);
  const auto probe = training == Training::kNo
                         ? Result<TorchProbe>(fail(Code::kNotFound, "not looked for"))
                         : probe_torch();
  append(checks, check_torch(probe, training));
  if (job) {
    const bool learns = training == Training::kWanted && probe;
    append(checks, check_job(*job, learns ? std::optional(*probe) : std::nullopt,
                             terminal_events().hooks()));
  }
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  print_checks(checks, invocation.has("--json"));
  return {count_bad(checks) > 0 ? Exit::kFailed : Exit::kDone, ""};
}

}  // namespace forebay
