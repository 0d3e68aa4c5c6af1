#include "scheduler/head/head_status.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"

namespace forebay::scheduler {
namespace {

using State = NodeStatus::State;

/// The time for former workers to rejoin after a head's restart, before they are reported as
/// missing.
constexpr std::chrono::seconds kTimeToComeBack(2);

std::string why_nothing_is_made(const HeadView& head) {
  const std::string for_long =
      head.no_worker_since ? " (for " + format_seconds(head.now - *head.no_worker_since) + ")" : "";
  const auto& members = head.members.all();
  const std::string& gone = head.members.last_gone();
  if (members.empty()) {
    return (gone.empty() ? "no worker has joined yet" : "no worker is left, " + gone) + for_long +
           "; start one with forebay worker --join";
  }
  const bool all_refused = std::all_of(members.begin(), members.end(), [](const auto& one) {
    return one.second.node.state == State::kRefused;
  });
  if (all_refused) return "every worker was refused" + for_long;
  return "no worker is ready yet, they are opening the job's files" + for_long;
}

std::string late_lowest_split(const HeadView& head) {
  const auto lowest = head.leases.lowest();
  if (!lowest || lowest->holders.empty()) return {};
  const auto had_for = head.now - lowest->since;
  const Member* late = head.members.find(lowest->holders.front());
  if (late == nullptr || had_for <= 2 * head.options.lease) return {};
  return "the trainer waits for split " + std::to_string(lowest->split) + ", which worker " +
         late->node.name + " has had for " + format_seconds(had_for);
}

std::vector<std::string> problems_of(const HeadView& head) {
  std::vector<std::string> found;
  if (!head.store_error.empty()) {
    found.push_back("nothing new is leased, the store cannot be written: " + head.store_error);
  }
  if (head.split_client_gone_since) {
    found.push_back("the trainer of job " + head.state.job().id + " has been out of reach for " +
                    format_seconds(head.now - *head.split_client_gone_since));
  }
  const std::size_t prepared = head.members.num_prepared();
  if (head.state.job_is_open() && prepared == 0) {
    found.push_back(why_nothing_is_made(head));
  } else if (head.state.job_is_open() && prepared < head.workers_awaited) {
    found.push_back("the job waits for " + format_counted(head.workers_awaited, "node") + ", " +
                    std::to_string(prepared) + " of them ready");
  }
  for (const auto& [incarnation, member] : head.members.all()) {
    if (member.node.state == State::kRefused) found.push_back("refused: " + member.node.trouble);
    if (head.now - member.last_heard > 3 * head.options.heartbeat) {
      found.push_back("worker " + member.node.name + " is silent");
    }
  }
  for (const auto& [name, since] : head.members.awaited()) {
    if (head.now - since < kTimeToComeBack) continue;
    found.push_back("worker " + name + " has not come back since the head's restart " +
                    format_seconds(head.now - since) + " ago");
  }
  if (auto late = late_lowest_split(head); !late.empty()) found.push_back(std::move(late));
  return found;
}

}  // namespace

ClusterStatus status_of(const HeadView& head) {
  ClusterStatus status;
  if (head.state.job_is_open()) status.job = head.state.job().id;
  status.session = head.state.session();
  status.epoch = head.state.epoch();
  status.splits = head.state.num_splits();
  status.finished = head.state.finished().size();
  status.waiting = head.leases.num_waiting();
  status.leased = head.leases.num_leases();
  status.issued_again = head.issued_again;
  status.prepared = head.members.num_prepared();
  status.rate = head.members.rate();
  status.mean_worker_rate = head.members.mean_remote_rate();
  for (const auto& [incarnation, member] : head.members.all()) {
    NodeStatus& node = status.nodes.emplace_back(member.node);
    node.leases = head.leases.num_leases(incarnation);
    node.silent_seconds = in_seconds(head.now - member.last_heard);
  }
  status.problems = problems_of(head);
  return status;
}

}  // namespace forebay::scheduler
