#include <unistd.h>

#include <utility>

#include "engine/cluster/this_node.h"
#include "engine/cluster/worker_node.h"
#include "engine/job/quantity.h"
#include "engine/outputs/running_inputs.h"
#include "engine/process/cpu_limit.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "scheduler/node_name.h"
#include "tools/command/commands.h"
#include "tools/command/node_metrics.h"
#include "tools/process/end_process.h"
#include "tools/process/message.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

void say(const std::string& line) { print_message("worker: " + line); }

Status read_data_roots(const Invocation& invocation, WorkerSetup& place) {
  for (const std::string& root : invocation.values("--data-root")) {
    const std::size_t equals = root.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == root.size()) {
      return fail(Code::kInvalid, "--data-root " + root + ": must be FROM=TO, two folders");
    }
    place.data_roots.emplace_back(root.substr(0, equals), root.substr(equals + 1));
  }
  return {};
}

Result<WorkerSetup> place_of(const Invocation& invocation) {
  WorkerSetup place;
  const std::string cpus = invocation.value("--cpus");
  const auto count = parse_count(cpus);
  if (!cpus.empty() && (!count || *count < 1 || *count > 4096)) {
    return fail(Code::kInvalid, "--cpus " + cpus + ": must be a whole number from 1 to 4096");
  }
  place.cpus = count ? static_cast<int>(*count) : available_cpus();
  const std::string memory = invocation.value("--memory");
  const auto bytes = parse_size(memory);
  if (!memory.empty() && (!bytes || *bytes == 0)) {
    return fail(Code::kInvalid, "--memory " + memory + ": must be a size, such as 2GiB");
  }
  place.memory_bytes = bytes ? *bytes : available_memory() / 2;
  place.name =
      invocation.value("--name", host_name() + "-" + std::to_string(static_cast<long>(::getpid())));
  if (!scheduler::is_node_name(place.name) || place.name == "local") {
    return fail(Code::kInvalid, "--name " + place.name +
                                    ": must be one line of 1 to 128 bytes, without /, not ., .. or "
                                    "\"local\"");
  }
  place.dir = invocation.value("--dir");
  place.announce = say;
  if (auto status = read_data_roots(invocation, place); !status) return pass(status);
  return place;
}

Result<WorkerNode::Options> options_of(const Invocation& invocation) {
  WorkerNode::Options options;
  options.join = invocation.value("--join");
  if (options.join.empty()) {
    return fail(Code::kInvalid,
                "--join is missing: the address that the trainer or head prints, such as "
                "--join 10.0.0.1:29400");
  }
  auto place = place_of(invocation);
  if (!place) return pass(place);
  options.place = std::move(*place);
  options.keys = invocation.value("--keys");
  options.say = say;
  // Ends the process at once, since the responsible function may never return; the worker's splits
  // are reissued to others.
  options.outgrown = [](const std::string& why) {
    say(why);
    end_process(Exit::kFailed);
  };
  for (const auto& [name, into] :
       {std::pair{"--grace", &options.grace}, std::pair{"--patience", &options.patience}}) {
    const std::string text = invocation.value(name);
    if (text.empty()) continue;
    const auto time = parse_duration(text);
    if (!time) {
      return fail(Code::kInvalid, std::string(name) + " " + text + ": must be a time, such as 30s");
    }
    *into = *time;
  }
  return options;
}

}  // namespace

Exit run_worker(const Invocation& invocation) {
  auto options = options_of(invocation);
  if (!options) return Exit::refused(options.error());
  Inputs keys;
  keys.add_files_below("--keys", options->keys);
  const auto published = PublishedInputs::publish(keys, print_message);
  const CpuLimit cpus;
  if (auto status = cpus.set(options->place.cpus); !status) return Exit::refused(status.error());
  const std::string name = options->place.name;
  auto worker = WorkerNode::open(std::move(*options));
  if (!worker) return Exit::refused(worker.error());
  auto metrics = node_metrics(invocation.value("--metrics"), say,
                              [&worker] { return metrics_of((*worker)->figures()); });
  if (!metrics) return Exit::refused(metrics.error());
  auto outcome = (*worker)->run([] { return StopRequest::requested(); });
  if (!outcome) return Exit::failed(outcome.error());
  const bool stopped = StopRequest::requested();
  if (!outcome->refused.empty() && !stopped && !invocation.has("--expendable")) {
    return Exit::failed({Code::kUnavailable, "this worker was refused: " + outcome->refused});
  }
  if (invocation.has("--json")) {
    print_json(JsonObject()
                   .add("name", name)
                   .add("job", outcome->job)
                   .add("splits", outcome->splits)
                   .add("seconds", outcome->seconds));
  } else {
    say("made " + format_count(outcome->splits) + " splits");
  }
  return stopped ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

}  // namespace forebay
