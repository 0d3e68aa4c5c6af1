#include "tools/process/cpu_limit.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

namespace forebay {

Status limit_cpus(int cpus) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return fail(Code::kUnavailable,
                std::string("the CPUs of this process: ") + std::strerror(errno));
  }
  for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && ++kept > cpus) CPU_CLR(cpu, &allowed);
  }
  if (::sched_setaffinity(0, sizeof allowed, &allowed) != 0) {
    return fail(Code::kUnavailable, std::string("pipeline.cpus: ") + std::strerror(errno));
  }
  return {};
}

}  // namespace forebay
