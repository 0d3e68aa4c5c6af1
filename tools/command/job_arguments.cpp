#include "tools/command/job_arguments.h"

#include <utility>

#include "engine/job/job_file.h"
#include "engine/process/machine.h"

namespace forebay {

namespace {

JobDefaults defaults_here() {
  return {.cpus = available_cpus(), .memory_bytes = available_memory() / 2};
}

}  // namespace

Result<JobSpec> open_job(const Invocation& invocation) {
  return load_job(invocation.arguments.front(), invocation.values("--set"), defaults_here());
}

Result<JobSpec> open_job(const Invocation& invocation, std::string text) {
  return parse_job(std::move(text), invocation.arguments.front(), invocation.values("--set"),
                   defaults_here());
}

}  // namespace forebay
