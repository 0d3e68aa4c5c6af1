#include "engine/process/machine_watch.h"

#include <algorithm>
#include <utility>

#include "engine/process/machine.h"

namespace forebay {

MachineLimits machine_limits() {
  return {.cpus = available_cpus(), .memory_bytes = cgroup_memory()};
}

MachineWatch::MachineWatch(Read read) : read_(std::move(read)) { refresh(); }

bool MachineWatch::look() {
  constexpr int kCalls = 10;
  if (++calls_ % kCalls != 0) return false;
  refresh();
  return true;
}

void MachineWatch::refresh() {
  const MachineLimits now = read_();
  cpus_ = std::max(1, now.cpus);
  memory_ = now.memory_bytes;
}

}  // namespace forebay
