#include <cstdio>
#include <optional>
#include <utility>

#include "engine/cluster/head_node.h"
#include "engine/job/job_keys.h"
#include "engine/metrics/figures.h"
#include "engine/outputs/running_inputs.h"
#include "engine/process/memory_use.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/command/node_metrics.h"
#include "tools/process/message.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

void say(const std::string& line) { print_message("head: " + line); }

}  // namespace

Exit run_head(const Invocation& invocation) {
  HeadNode::Options options;
  options.listen = invocation.value("--listen");
  options.store = invocation.value("--store");
  options.keys = invocation.value("--keys");
  options.say = say;
  if (options.listen.empty() || options.store.empty()) {
    return Exit::refused(
        "head needs --listen ADDR and --store DIR, as in head --listen tcp://10.0.0.1:29400 "
        "--store /var/lib/forebay");
  }
  if (const std::string lease = invocation.value("--lease"); !lease.empty()) {
    JobSpec job;
    if (const auto wanted = read_key("cluster.lease", lease, job)) {
      return Exit::refused("--lease " + lease + ": must be " + *wanted);
    }
    options.lease = job.cluster.lease;
  }
  Inputs keys;
  keys.add_files_below("--keys", options.keys);
  const auto published = PublishedInputs::publish(keys, print_message);
  auto head = HeadNode::open(options);
  if (!head) return Exit::refused(head.error());
  auto metrics = node_metrics(invocation.value("--metrics"), say, [&head] {
    auto cluster = (*head)->status();
    return metrics_of(
        HeadFigures{.memory_bytes = resident_bytes(),
                    .cluster = cluster ? std::optional(std::move(*cluster)) : std::nullopt});
  });
  if (!metrics) return Exit::refused(metrics.error());
  const std::string address = "tcp://" + (*head)->address();
  std::printf("%s\n", address.c_str());
  std::fflush(stdout);
  say("workers and trainers join at " + (*head)->address());
  (*head)->run([] { return StopRequest::requested(); });
  if (invocation.has("--json")) print_json(JsonObject().add("address", address));
  return Exit::stopped(StopRequest::signal());
}

}  // namespace forebay
