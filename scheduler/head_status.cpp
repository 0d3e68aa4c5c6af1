#include <algorithm>

#include "core/base/seconds.h"
#include "scheduler/format_seconds.h"
#include "scheduler/head_actor.h"

// The head's status report.
namespace forebay::scheduler {
namespace {

/// The time for former workers to rejoin after a head's restart, before they are reported as
/// missing.
constexpr std::chrono::seconds kTimeToComeBack(2);

}  // namespace

std::string HeadActor::why_nothing_is_made(Time now) const {
  const std::string for_long =
      no_worker_since_ ? " (for " + format_seconds(now - *no_worker_since_) + ")" : "";
  if (view_.nodes().empty()) {
    return (last_gone_.empty() ? "no worker has joined yet" : "no worker is left, " + last_gone_) +
           for_long + "; start one with forebay worker --join";
  }
  const bool all_refused =
      std::all_of(view_.nodes().begin(), view_.nodes().end(),
                  [](const auto& node) { return node.second.state == NodeView::State::kRefused; });
  if (all_refused) return "every worker was refused" + for_long;
  return "no worker is ready yet, they are opening the job's files" + for_long;
}

std::vector<std::string> HeadActor::problems(Time now) const {
  std::vector<std::string> found;
  if (!store_error_.empty()) {
    found.push_back("nothing new is leased, the store cannot be written: " + store_error_);
  }
  if (split_client_gone_since_) {
    found.push_back("the trainer of job " + state().job().id + " has been out of reach for " +
                    format_seconds(now - *split_client_gone_since_));
  }
  const std::size_t prepared = view_.num_prepared();
  if (state().job_is_open() && prepared == 0) {
    found.push_back(why_nothing_is_made(now));
  } else if (state().job_is_open() && !enough_workers_ && prepared < min_workers_) {
    found.push_back("the job waits for " + std::to_string(min_workers_) + " workers, " +
                    std::to_string(prepared) + " are ready");
  }
  for (const auto& [incarnation, node] : view_.nodes()) {
    if (node.state == NodeView::State::kRefused) found.push_back("refused: " + node.trouble);
    if (now - node.last_heard > 3 * options_.heartbeat) {
      found.push_back("worker " + node.name + " is silent");
    }
  }
  for (const auto& [name, since] : awaited_) {
    if (now - since < kTimeToComeBack) continue;
    found.push_back("worker " + name + " has not come back since the head's restart " +
                    format_seconds(now - since) + " ago");
  }
  if (const auto lowest = leases_.lowest()) {
    const bool late = !lowest->holders.empty() && now - lowest->since > 2 * options_.lease;
    const auto late_node = late ? view_.nodes().find(lowest->holders.front()) : view_.nodes().end();
    if (late_node != view_.nodes().end()) {
      found.push_back("the trainer waits for split " + std::to_string(lowest->split) +
                      ", which worker " + late_node->second.name + " has had for " +
                      format_seconds(now - lowest->since));
    }
  }
  return found;
}

Result<ClusterStatus> HeadActor::on(const QueryCluster&, Context& context) {
  const Time now = context.clock().now();
  ClusterStatus status;
  if (state().job_is_open()) status.job = state().job().id;
  status.session = state().session();
  status.epoch = state().epoch();
  status.splits = state().num_splits();
  status.finished = state().finished().size();
  status.waiting = leases_.num_waiting();
  status.leased = leases_.num_leases();
  status.issued_again = issued_again_;
  status.prepared = view_.num_prepared();
  status.rate = view_.rate();
  status.mean_worker_rate = view_.mean_remote_rate();
  status.nodes.reserve(view_.nodes().size());
  for (const auto& [incarnation, node] : view_.nodes()) {
    status.nodes.push_back({.name = node.name,
                            .host = node.host,
                            .incarnation = incarnation,
                            .pid = node.pid,
                            .cpus = node.cpus,
                            .memory_limit = node.memory_limit,
                            .state = node.state,
                            .trouble = node.trouble,
                            .capacity = node.capacity,
                            .leases = leases_.num_leases(incarnation),
                            .splits_done = node.splits_done,
                            .rate = node.rate,
                            .busy_cpus = node.busy_cpus,
                            .memory_used = node.memory_used,
                            .silent_seconds = in_seconds(now - node.last_heard)});
  }
  status.problems = problems(now);
  return status;
}

}  // namespace forebay::scheduler
