#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/net/host_port.h"
#include "engine/cluster/head_location.h"
#include "engine/job/quantity.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/symmetric/launch_end.h"
#include "tools/symmetric/launched_process.h"
#include "tools/symmetric/meeting.h"

namespace forebay {
namespace {

using Arguments = std::vector<std::string>;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

void add_option(const char* name, const std::string& value, Arguments& to) {
  to.insert(to.end(), {name, value});
}

Arguments trainer_arguments(const Invocation& invocation, const JobSpec& job,
                            const LaunchedProcess& placement, std::uint16_t port) {
  Arguments program_arguments = {invocation.value("--command", "train"),
                                 invocation.arguments.front()};
  if (job.cluster.listen.empty()) {
    // If another job of this host uses the port, takes any free one, which workers read from the
    // address file.
    const bool fixed = invocation.has("--port") || try_port(port) == 0;
    const std::string host = placement.one_host ? "127.0.0.1:" : "0.0.0.0:";
    add_option("--set", "cluster.listen=tcp://" + host + std::to_string(fixed ? port : 0),
               program_arguments);
  }
  for (const std::string& set : invocation.values("--set")) {
    add_option("--set", set, program_arguments);
  }
  for (const char* flag : {"--resume", "--restart", "--json"}) {
    if (invocation.has(flag)) program_arguments.emplace_back(flag);
  }
  return program_arguments;
}

Arguments worker_arguments(const JobSpec& job, const LaunchedProcess& placement,
                           const std::string& address) {
  Arguments program_arguments = {
      "worker", "--join", address, "--name", host_name() + "-" + std::to_string(placement.rank),
      "--cpus", std::to_string(job.pipeline.cpus), "--memory",
      std::to_string(job.pipeline.memory_bytes),
      // The job goes on without a refused worker, but srun and mpirun end it if one fails.
      "--expendable"};
  if (!job.cluster.keys.empty()) add_option("--keys", job.cluster.keys, program_arguments);
  return program_arguments;
}

/// Replaces this process by `forebay WORDS`; returns only if that fails.
Exit become(Arguments program_arguments) {
  auto path = own_path();
  if (!path) return Exit::failed(path.error());
  program_arguments.insert(program_arguments.begin(), *path);
  std::vector<char*> arguments;
  arguments.reserve(program_arguments.size() + 1);
  for (std::string& word : program_arguments) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // The launcher's processes are this job's nodes, not its trainers.
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  ::execv(path->c_str(), arguments.data());
  return Exit::failed({Code::kUnavailable, *path + ": " + std::strerror(errno)});
}

Exit join(const JobSpec& job, const LaunchedProcess& placement, std::uint16_t port) {
  MeetingPoint point;
  point.address_file = job.run.dir + "/address";
  point.first_host = placement.first_host;
  point.port = port;
  point.patience = job.run.stall_fail;
  const LaunchEnd end(placement, job.run.dir);
  std::optional<int> status;
  auto address = await_head(point, [&](std::chrono::nanoseconds waited) {
    status = end.status(waited);
    return StopRequest::requested() || status;
  });
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!address) return Exit::failed(address.error());
  if (status.value_or(0) != 0) {
    return {*status, "rank 0 ended with exit status " + std::to_string(*status) +
                         " before this process found its head; look at what rank 0 said"};
  }
  if (address->empty()) {
    print_message("symmetric-run: rank 0 has ended its run already; nothing is left to do here");
    return Exit::done();
  }
  return become(worker_arguments(job, placement, *address));
}

}  // namespace

Exit run_symmetric(const Invocation& invocation) {
  std::string command = "train";
  const auto read = OptionReader(invocation).command(command).status();
  if (!read) return Exit::refused(read.error());
  auto placement = placement_in(variable);
  if (!placement) return Exit::refused(placement.error());
  std::uint16_t port = port_of(*placement);
  if (!invocation.value("--port").empty()) {
    const auto given = OptionReader(invocation).port("--port", port, 1).status();
    if (!given) return Exit::refused(given.error());
  }
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  if (placement->rank > 0) return join(*job, *placement, port);
  LaunchEnd(*placement, job->run.dir).hand_over();
  return become(trainer_arguments(invocation, *job, *placement, port));
}

}  // namespace forebay
