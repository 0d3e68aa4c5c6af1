#include "engine/analyze/workers.h"

#include <algorithm>
#include <vector>

#include "core/base/text/shell_word.h"
#include "core/base/text/text.h"

namespace forebay {
namespace {

constexpr std::uint64_t kLeastMemory = std::uint64_t{256} << 20;  // of a worker

/// `count` CPUs of the machine from place `first` on, as taskset takes them.
std::string cpu_list(const LocalMachine& machine, std::size_t first, std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = first; i < first + count; ++i) {
    numbers.push_back(std::to_string(machine.cpus[i]));
  }
  return joined(numbers, ",");
}

}  // namespace

Workers workers_in(const scheduler::ClusterStatus& cluster, const std::string& local) {
  Workers workers;
  double splits = 0;
  std::uint32_t known = 0;
  for (const scheduler::NodeStatus& node : cluster.nodes) {
    if (node.name == local || node.state != scheduler::NodeStatus::State::kPrepared) continue;
    ++workers.count;
    const double could_make = std::max(node.could_make, node.rate);
    if (could_make <= 0) continue;
    splits += could_make;
    ++known;
  }
  if (known > 0) workers.splits_per_second = splits / known;
  return workers;
}

// The job itself has the first CPUs, and a worker would take the same ones: each gets others.
std::string local_workers_command(const JobSpec& job, std::uint32_t workers,
                                  const LocalMachine& machine) {
  const auto cpus = static_cast<std::size_t>(job.pipeline.cpus);
  const std::uint64_t memory = std::min(job.pipeline.memory_bytes, machine.memory / 2 / workers);
  const bool fits = (workers + 1) * cpus <= machine.cpus.size() &&
                    memory >= std::min(job.pipeline.memory_bytes, kLeastMemory);
  if (!fits || machine.program.empty()) return "";
  std::string script;
  for (std::uint32_t i = 0; i < workers; ++i) {
    const std::string number = std::to_string(i + 1);
    script += "taskset -c " + cpu_list(machine, (i + 1) * cpus, cpus) + " " +
              shell_word(machine.program) + " worker --join " +
              shell_word(local_workers_address(job)) + " --name worker-" + number + " --cpus " +
              std::to_string(cpus) + " --memory " + std::to_string(memory) + " --dir " +
              shell_word(job.run.dir + "/analyze/worker-" + number) +
              " </dev/null >/dev/null 2>&1 & ";
  }
  return "sh -c " + shell_word(script);
}

std::string local_workers_address(const JobSpec& job) { return job.run.dir + "/analyze/address"; }

}  // namespace forebay
