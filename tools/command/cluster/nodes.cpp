#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/text/text.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/head_node.h"
#include "engine/cluster/worker_node.h"
#include "engine/job/job_keys.h"
#include "engine/job/quantity.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/metrics_server.h"
#include "engine/outputs/inputs.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/report/json_object.h"
#include "scheduler/protocol.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

void say_as_head(const std::string& line) { print_message("head: " + line); }

void say_as_worker(const std::string& line) { print_message("worker: " + line); }

/// Starts the metrics server for `--metrics ADDRESS` of a head or worker and reports its address;
/// returns null without an address. Everything that `collect` uses must outlive it.
Result<std::unique_ptr<MetricsServer>> node_metrics(
    const std::string& address, const std::function<void(const std::string&)>& say,
    MetricsServer::Collect collect) {
  if (address.empty()) return std::unique_ptr<MetricsServer>();
  auto server = MetricsServer::open("--metrics", address, std::move(collect));
  if (!server) return pass(server);
  say("metrics: " + (*server)->url());
  return server;
}

/// Reads an option into the member of `job` that a key of a job file sets, within the key's bounds.
Status read_as(const std::string& option, const std::string& text, const std::string& key,
               JobSpec& job) {
  const auto wanted = read_key(key, text, job);
  return wanted ? fail(Code::kInvalid, option + " " + text + ": must be " + *wanted) : Status{};
}

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

/// Reads `--python-path DIR[:DIR...]`.
Status read_python_path(const Invocation& invocation, WorkerSetup& place) {
  const std::string whole = invocation.value("--python-path");
  for (std::string_view folders = whole; !folders.empty();) {
    const std::string folder(take_until(folders, ':'));
    if (folder.empty()) continue;
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(folder);
    if (!std::filesystem::exists(path, error)) {
      return fail(Code::kNotFound, "--python-path " + folder + ": there is no such folder");
    }
    place.python_path.push_back(path.lexically_normal().string());
  }
  return {};
}

Result<WorkerSetup> place_of(const Invocation& invocation) {
  WorkerSetup place;
  place.cpus = available_cpus();
  place.memory_bytes = available_memory() / 2;
  auto cpus = OptionReader(invocation).count("--cpus", place.cpus, 1, 4096).status();
  if (!cpus) return pass(cpus);
  if (const std::string memory = invocation.value("--memory"); !memory.empty()) {
    JobSpec job;
    if (auto status = read_as("--memory", memory, "pipeline.memory", job); !status) {
      return pass(status);
    }
    place.memory_bytes = job.pipeline.memory_bytes;
  }
  place.name =
      invocation.value("--name", host_name() + "-" + std::to_string(static_cast<long>(::getpid())));
  if (!scheduler::is_node_name(place.name) || place.name == "local") {
    return fail(Code::kInvalid, "--name " + place.name +
                                    ": must be one line of 1 to 128 bytes, without /, not ., .. or "
                                    "\"local\"");
  }
  place.dir = invocation.value("--dir");
  if (auto status = read_python_path(invocation, place); !status) return pass(status);
  place.announce = say_as_worker;
  if (auto status = read_data_roots(invocation, place); !status) return pass(status);
  return place;
}

/// Reads what the objects of a worker's actors may take.
Status read_object_limits(const Invocation& invocation, WorkerNode::Options& options) {
  options.objects.memory_bytes = options.place.memory_bytes / 4;
  options.objects.folder = invocation.value("--object-dir");
  OptionReader read(invocation);
  read.value("--object-memory", options.objects.memory_bytes, "a size, such as 2GiB", parse_size);
  read.value("--object-disk", options.objects.disk_bytes, "a size, such as 20GiB", parse_size);
  if (!read.status()) return read.status();
  for (const char* option : {"--listen", "--object-memory", "--object-disk", "--object-dir"}) {
    if (invocation.has(option) && !options.has_actors()) {
      return fail(Code::kInvalid,
                  std::string(option) + ": goes with --actors or --accept-shipped only");
    }
  }
  return {};
}

Result<WorkerNode::Options> worker_options_of(const Invocation& invocation) {
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
  options.actors = {.paths = invocation.values("--actors"),
                    .ship = invocation.has("--ship"),
                    .accept_shipped = invocation.has("--accept-shipped")};
  if (options.actors.ship && options.actors.paths.empty()) {
    return fail(Code::kInvalid, "--ship: sends the libraries of --actors, and there is none");
  }
  options.listen = invocation.value("--listen");
  if (auto status = read_object_limits(invocation, options); !status) return pass(status);
  options.say = say_as_worker;
  // Ends the process at once, since the responsible function may never return; the worker's splits
  // are reissued to others.
  options.outgrown = [](const std::string& why) {
    say_as_worker(why);
    end_process(Exit::kFailed);
  };
  OptionReader read(invocation);
  for (const auto& [name, into] :
       {std::pair{"--grace", &options.grace}, std::pair{"--patience", &options.patience}}) {
    if (invocation.value(name).empty()) continue;
    read.value(name, *into, "a time, such as 30s", parse_duration);
  }
  if (auto status = read.status(); !status) return pass(status);
  return options;
}

}  // namespace

Exit run_head(const Invocation& invocation) {
  HeadNode::Options options;
  options.listen = invocation.value("--listen");
  options.store = invocation.value("--store");
  options.keys = invocation.value("--keys");
  options.say = say_as_head;
  if (options.listen.empty() || options.store.empty()) {
    return Exit::refused(
        "head needs --listen ADDR and --store DIR, as in head --listen tcp://10.0.0.1:29400 "
        "--store /var/lib/forebay");
  }
  if (const std::string lease = invocation.value("--lease"); !lease.empty()) {
    JobSpec job;
    if (auto status = read_as("--lease", lease, "cluster.lease", job); !status) {
      return Exit::refused(status.error());
    }
    options.lease = job.cluster.lease;
  }
  Inputs keys;
  keys.add_files_below("--keys", options.keys);
  const auto published = PublishedInputs::publish(keys, print_message);
  auto head = HeadNode::open(options);
  if (!head) return Exit::refused(head.error());
  auto metrics = node_metrics(invocation.value("--metrics"), say_as_head, [&head] {
    auto cluster = (*head)->status();
    return metrics_of(
        HeadFigures{.memory_bytes = resident_bytes(),
                    .cluster = cluster ? std::optional(std::move(*cluster)) : std::nullopt});
  });
  if (!metrics) return Exit::refused(metrics.error());
  const std::string address = "tcp://" + (*head)->address();
  std::printf("%s\n", address.c_str());
  std::fflush(stdout);
  say_as_head("workers and trainers join at " + (*head)->address());
  (*head)->run([] { return StopRequest::requested(); });
  if (invocation.has("--json")) print_json(JsonObject().add("address", address));
  return Exit::stopped(StopRequest::signal());
}

Exit run_worker(const Invocation& invocation) {
  auto options = worker_options_of(invocation);
  if (!options) return Exit::refused(options.error());
  Inputs keys;
  keys.add_files_below("--keys", options->keys);
  const auto published = PublishedInputs::publish(keys, print_message);
  const CpuLimit cpus;
  if (auto status = cpus.set(options->place.cpus); !status) return Exit::refused(status.error());
  const std::string name = options->place.name;
  auto worker = WorkerNode::open(std::move(*options));
  if (!worker) return Exit::refused(worker.error());
  auto metrics = node_metrics(invocation.value("--metrics"), say_as_worker,
                              [&worker] { return metrics_of((*worker)->figures()); });
  if (!metrics) return Exit::refused(metrics.error());
  auto outcome = (*worker)->run([] { return StopRequest::requested(); });
  if (!outcome) return Exit::failed(outcome.error());
  const bool stopped = StopRequest::requested();
  if (!outcome->refused.empty() && !stopped && !invocation.has("--expendable")) {
    const Error why{Code::kUnavailable, "this worker was refused: " + outcome->refused};
    return outcome->misconfigured ? Exit::refused(why) : Exit::failed(why);
  }
  print_result(invocation,
               JsonObject()
                   .add("name", name)
                   .add("job", outcome->job)
                   .add("splits", outcome->splits)
                   .add("seconds", outcome->seconds),
               [&] { say_as_worker("made " + format_count(outcome->splits) + " splits"); });
  return stopped ? Exit::stopped(StopRequest::signal()) : Exit::done();
}

}  // namespace forebay
