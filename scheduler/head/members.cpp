#include "scheduler/head/members.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/head_options.h"

namespace forebay::scheduler {

double RateMeter::update(std::uint64_t count, std::chrono::nanoseconds now) {
  if (!begun_ || count < count_) {  // The first call, or the counter was reset.
    begun_ = true;
    count_ = count;
    since_ = now;
    return rate_;
  }
  const double seconds = in_seconds(now - since_);
  if (seconds < 0.1) return rate_;
  const double fresh = static_cast<double>(count - count_) / seconds;
  const double span = in_seconds(kSpan);
  const double weight = measured_ ? 1 - std::exp(-seconds / span) : 1;
  rate_ += weight * (fresh - rate_);
  measured_ = measured_ || count > count_;  // Before the first item, the mean would be too low.
  count_ = count;
  since_ = now;
  return rate_;
}

Member* Members::find(std::uint64_t incarnation) {
  const auto found = all_.find(incarnation);
  return found == all_.end() ? nullptr : &found->second;
}

const Member* Members::find(std::uint64_t incarnation) const {
  const auto found = all_.find(incarnation);
  return found == all_.end() ? nullptr : &found->second;
}

Member* Members::find(const std::string& name) {
  for (auto& [incarnation, member] : all_) {
    if (member.node.name == name) return &member;
  }
  return nullptr;
}

Member* Members::active(std::uint64_t incarnation) {
  Member* member = find(incarnation);
  return member == nullptr || member->gone ? nullptr : member;
}

Status Members::check(const Join& join, const HeadOptions& options, Time now,
                      const std::string& open_job) const {
  if (!is_node_name(join.name) || join.worker.receiver() == nullptr) {
    return fail(Code::kInvalid,
                "a worker joins with a name of one line, without /, and a place to reach it at");
  }
  const std::string who = "worker " + join.name;
  if (join.protocol != kProtocol) {
    return fail(Code::kInvalid, who + " speaks protocol " + std::to_string(join.protocol) +
                                    ", the head " + std::to_string(kProtocol) +
                                    "; run the same version of forebay on all nodes");
  }
  if (!options.version.empty() && join.version != options.version) {
    return fail(Code::kInvalid, who + " runs forebay " + join.version + ", the head " +
                                    options.version + "; run the same version on all nodes");
  }
  if (!options.operators.empty() && join.operators != options.operators) {
    return fail(Code::kInvalid, who +
                                    " has other operators or UDFs than the head; install the "
                                    "same libraries on all nodes");
  }
  for (const auto& [incarnation, member] : all_) {
    const bool same_process = member.node.host == join.host && member.node.pid == join.pid;
    if (member.node.name != join.name || same_process) continue;
    if (now - member.last_heard > 2 * options.heartbeat) continue;
    const bool is_needed = !open_job.empty() && join.job == open_job;
    if (is_needed && member.node.state == NodeStatus::State::kRefused) continue;
    return fail(Code::kOverloaded, "a living worker on " + member.node.host + " is called " +
                                       join.name + " already; give this one another name");
  }
  return {};
}

bool Members::is_new_refusal(const std::string& name, const std::string& why) {
  constexpr std::size_t kMostNames = 1024;
  if (turned_away_.size() >= kMostNames) turned_away_.clear();
  return std::exchange(turned_away_[name], why) != why;
}

void Members::add(std::uint64_t incarnation, const Join& join, const HeadOptions& options,
                  Time now) {
  Member& member = all_[incarnation];
  member.node.name = join.name;
  member.node.host = join.host;
  member.node.incarnation = incarnation;
  member.node.pid = join.pid;
  member.node.cpus = join.cpus;
  member.node.memory_limit = join.memory_bytes;
  member.worker = join.worker;
  member.last_heard = now;
  member.holds = join.holds;
  if (!options.trainer_host.empty() && join.host == options.trainer_host) {
    member.distance =
        join.pid == options.trainer_pid ? Distance::kSameProcess : Distance::kSameHost;
  }
  awaited_.erase(join.name);
  turned_away_.erase(join.name);
}

void Members::heard(Member& member, const Heartbeat& heartbeat, Time now) {
  member.blocked = false;
  member.last_heard = now;
  member.holds = heartbeat.holds;
  member.node.capacity = heartbeat.slots;
  member.node.splits_done = heartbeat.splits_done;
  member.node.rate = member.meter.update(heartbeat.splits_done, now);
  member.node.busy_cpus = heartbeat.busy_cpus;
  member.node.memory_used = heartbeat.memory_bytes;
  member.node.could_make = std::isfinite(heartbeat.could_make) ? heartbeat.could_make : 0;
  member.node.busy = std::isfinite(heartbeat.busy) ? std::clamp(heartbeat.busy, 0.0, 1.0) : 1;
  if (std::isfinite(heartbeat.cpus) && heartbeat.cpus > 0) member.node.cpus = heartbeat.cpus;
  if (heartbeat.memory_limit > 0) member.node.memory_limit = heartbeat.memory_limit;
  // Until the worker has opened the job, it counts for the one before.
  if (member.node.state != NodeStatus::State::kPrepared) return;
  member.node.use = heartbeat.use;
  if (!std::isfinite(heartbeat.use.joules)) member.node.use.joules = 0;
}

std::vector<Members::Loss> Members::losses(Time now, Time lost_after, bool job_is_open) const {
  std::vector<Loss> lost;
  for (const auto& [incarnation, member] : all_) {
    const Time silent = now - member.last_heard;
    if (member.gone) {
      lost.push_back(
          {incarnation, job_is_open ? Gone::kLost : Gone::kLeft, "its connection has ended"});
    } else if (silent >= lost_after) {
      lost.push_back({incarnation, Gone::kLost, "silent for " + format_seconds(silent)});
    }
  }
  return lost;
}

void Members::remove(const Loss& loss) {
  const auto found = all_.find(loss.incarnation);
  last_gone_ = "worker " + found->second.node.name +
               (loss.how == Gone::kLost ? " was lost: " : " has left: ") + loss.why;
  all_.erase(found);
}

void Members::forget_job() {
  awaited_.clear();
  last_gone_.clear();
  for (auto& [incarnation, member] : all_) {
    member.node.state = NodeStatus::State::kJoined;
    member.node.trouble.clear();
    member.node.use = {};
  }
}

std::size_t Members::num_prepared() const {
  return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const auto& one) {
    return one.second.node.state == NodeStatus::State::kPrepared;
  }));
}

double Members::rate() const {
  double sum = 0;
  for (const auto& [incarnation, member] : all_) sum += member.node.rate;
  return sum;
}

double Members::mean_remote_rate() const {
  double sum = 0;
  double count = 0;
  for (const auto& [incarnation, member] : all_) {
    if (member.distance == Distance::kSameProcess || member.node.rate <= 0) continue;
    sum += member.node.rate;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace forebay::scheduler
