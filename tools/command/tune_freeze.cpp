#include <cstdio>
#include <filesystem>

#include "core/base/whole_file.h"
#include "engine/job/job_edit.h"
#include "engine/outputs/job_files.h"
#include "engine/report/json_object.h"
#include "engine/run/decision_text.h"
#include "tools/command/commands.h"
#include "tools/command/job_arguments.h"
#include "tools/command/tune_log.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

Result<std::string> frozen(std::string text, const tuner::Allocation& allocation,
                           const tuner::PipelineDescription& description) {
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    auto edited = with_value(text, "pipeline.allocation", description.stages[i].name,
                             std::to_string(allocation.actors[i]));
    if (!edited) return edited;
    text = std::move(*edited);
  }
  return with_value(text, "tuner", "mode", "\"off\"");
}

}  // namespace

Exit run_tune_freeze(const Invocation& invocation) {
  const std::string& path = invocation.arguments.front();
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  auto log = open_log(invocation.value("--log", job->run.dir));
  if (!log) return Exit::refused(log.error());
  if (log->decisions.empty()) return Exit::refused("the log holds no decision to freeze");
  const tuner::Allocation& last = log->decisions.back().applied;
  auto edited = frozen(job->source.text, last, log->header.description);
  if (!edited) return Exit::refused(path + ": " + edited.error().message);
  if (auto usable = open_job(invocation, *edited); !usable) {
    return Exit::refused("the log's allocation does not fit the job: " + usable.error().message);
  }
  // The user asks to change the job file itself, so only the temporary file is checked.
  const Output aside{.name = "JOB", .path = std::filesystem::canonical(path).string() + kAside};
  if (auto free = check_outputs({aside}, inputs_of(*job)); !free) {
    return Exit::refused(free.error());
  }
  if (auto status = replace_file(path, *edited); !status) return Exit::failed(status.error());
  const std::string words = describe(last, log->header.description);
  if (invocation.has("--json")) {
    print_json(JsonObject().add("job", path).add("allocation", words));
  } else {
    std::printf("%s: pipeline.allocation is %s now, tuner.mode is off\n", path.c_str(),
                words.substr(0, words.rfind(", prefetch")).c_str());
  }
  return Exit::done();
}

}  // namespace forebay
