#include "tools/command/job_arguments.h"

#include "tools/job/job_file.h"
#include "tools/process/machine.h"

namespace forebay {

Result<JobSpec> open_job(const Invocation& invocation) {
  const JobDefaults defaults{.cpus = available_cpus(), .memory_bytes = available_memory() / 2};
  return load_job(invocation.arguments.front(), invocation.values("--set"), defaults);
}

}  // namespace forebay
