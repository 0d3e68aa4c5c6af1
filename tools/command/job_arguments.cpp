#include "tools/command/job_arguments.h"

#include <cstdio>

#include "tools/job/job_file.h"
#include "tools/process/machine.h"

namespace forebay {

Result<JobSpec> open_job(const Invocation& invocation) {
  const JobDefaults defaults{.cpus = available_cpus(), .memory_bytes = available_memory() / 2};
  auto job = load_job(invocation.arguments.front(), invocation.values("--set"), defaults);
  if (job) {
    for (const std::string& note : job->notes) std::fprintf(stderr, "forebay: %s\n", note.c_str());
  }
  return job;
}

}  // namespace forebay
