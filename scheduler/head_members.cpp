#include <utility>

#include "scheduler/format_seconds.h"
#include "scheduler/head_actor.h"
#include "scheduler/node_name.h"

// The members: joining, heartbeats, leaving, losses and refusals.
namespace forebay::scheduler {
namespace {

/// The pause before repeating an offer to a worker that has not opened the job: the first one may
/// have been lost.
constexpr std::chrono::seconds kOfferAgain(2);

}  // namespace

Status HeadActor::check_newcomer(const Join& join, Time now) const {
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
  if (!options_.version.empty() && join.version != options_.version) {
    return fail(Code::kInvalid, who + " runs forebay " + join.version + ", the head " +
                                    options_.version + "; run the same version on all nodes");
  }
  if (!options_.operators.empty() && join.operators != options_.operators) {
    return fail(Code::kInvalid, who +
                                    " has other operators or UDFs than the head; install the "
                                    "same libraries on all nodes");
  }
  for (const auto& [incarnation, node] : view_.nodes()) {
    const bool same_process = node.host == join.host && node.pid == join.pid;
    if (node.name != join.name || same_process) continue;
    if (now - node.last_heard > 2 * options_.heartbeat) continue;
    return fail(Code::kOverloaded, "a living worker on " + node.host + " is called " + join.name +
                                       " already; give this one another name");
  }
  return {};
}

// Reports a worker that joins repeatedly only once.
void HeadActor::say_refused(const std::string& name, const std::string& why) {
  constexpr std::size_t kMostNames = 1024;
  if (turned_away_.size() >= kMostNames) turned_away_.clear();
  std::string& before = turned_away_[name];
  if (before != why) say("refused: " + why);
  before = why;
}

Result<Accepted> HeadActor::on(const Join& join, Context& context) {
  const Time now = context.clock().now();
  if (auto status = check_newcomer(join, now); !status) {
    say_refused(join.name, status.error().message);
    return pass(status);
  }
  if (const NodeView* before = view_.find(join.name)) {
    auto status = remove(before->incarnation, Gone::kLost, "it joined again", context);
    if (!status) return pass(status);
  }
  const std::uint64_t incarnation = state().last_incarnation() + 1;
  if (auto status = commit(NodeJoined{incarnation, join.name, join.host}); !status) {
    return pass(status);
  }
  NodeView& node = view_.nodes()[incarnation];
  node.incarnation = incarnation;
  node.name = join.name;
  node.host = join.host;
  node.pid = join.pid;
  node.cpus = join.cpus;
  node.memory_limit = join.memory_bytes;
  node.last_heard = now;
  if (!options_.trainer_host.empty() && join.host == options_.trainer_host) {
    node.distance = join.pid == options_.trainer_pid ? Distance::kSameProcess : Distance::kSameHost;
  }
  members_[incarnation].worker = join.worker;
  watch(join.worker, ActorRef<Down>(self(context)));
  awaited_.erase(join.name);
  turned_away_.erase(join.name);
  for (const std::uint64_t split : join.holds) leases_.adopt(incarnation, split, now);
  say("worker " + join.name + " on " + join.host + " has joined");
  Accepted accepted;
  accepted.incarnation = incarnation;
  accepted.split_client_address = split_client_address_;
  accepted.heartbeat_ns = static_cast<std::uint64_t>(options_.heartbeat.count());
  if (state().job_is_open() && split_client_is_there()) accepted.job = state().job();
  return accepted;
}

/// The member that acts as `incarnation`; null when its membership has ended.
NodeView* HeadActor::member(std::uint64_t incarnation) {
  const auto known = members_.find(incarnation);
  return known == members_.end() || known->second.gone ? nullptr : view_.find(incarnation);
}

Status HeadActor::on(const Prepared& prepared, Context& context) {
  NodeView* node = member(prepared.incarnation);
  if (node == nullptr) return fail(Code::kNotFound, "this membership has ended");
  if (!state().job_is_open()) return fail(Code::kUnavailable, "there is no job now");
  if (prepared.fingerprint != state().job().fingerprint) {
    const std::string why = "worker " + node->name +
                            " finds another dataset, order or operators (" + prepared.fingerprint +
                            ", the trainer " + state().job().fingerprint +
                            "); give it the trainer's files and libraries";
    refuse(*node, why, context);
    return fail(Code::kInvalid, why);
  }
  if (node->state == NodeView::State::kPrepared) return {};
  node->state = NodeView::State::kPrepared;
  node->trouble.clear();
  lease_out(context);
  return {};
}

Status HeadActor::on(const Heartbeat& heartbeat, Context& context) {
  NodeView* node = member(heartbeat.incarnation);
  if (node == nullptr) return fail(Code::kNotFound, "this membership has ended");
  const Time now = context.clock().now();
  Member& known = members_[heartbeat.incarnation];
  known.blocked = false;
  node->last_heard = now;
  node->capacity = heartbeat.slots;
  node->splits_done = heartbeat.splits_done;
  node->rate = known.meter.update(heartbeat.splits_done, now);
  node->busy_cpus = heartbeat.busy_cpus;
  node->memory_used = heartbeat.memory_bytes;
  leases_.prolong(heartbeat.incarnation, heartbeat.holds, now);
  std::vector<std::uint64_t> unwanted;
  for (const std::uint64_t split : heartbeat.holds) {
    if (!leases_.adopt(heartbeat.incarnation, split, now)) unwanted.push_back(split);
  }
  if (!unwanted.empty()) revoke(heartbeat.incarnation, std::move(unwanted), context);
  const bool waits = node->state == NodeView::State::kJoined && state().job_is_open();
  if (waits && split_client_is_there() && now - known.offered >= kOfferAgain) {
    offer_job(heartbeat.incarnation, context);
  }
  lease_out(context);
  return {};
}

Status HeadActor::on(const Leave& leave, Context& context) {
  if (view_.find(leave.incarnation) == nullptr) return {};
  auto status = remove(leave.incarnation, Gone::kLeft, "it was asked to", context);
  lease_out(context);
  return status;
}

void HeadActor::lose_the_gone(Time now, Context& context) {
  struct Lost {
    std::uint64_t incarnation;
    Gone how;
    std::string why;
  };
  // A worker process exits after its job: without an open job, the end of its connection is not a
  // loss.
  const Gone hung_up = state().job_is_open() ? Gone::kLost : Gone::kLeft;
  std::vector<Lost> lost;
  for (const auto& [incarnation, node] : view_.nodes()) {
    const Time silent = now - node.last_heard;
    if (members_[incarnation].gone) {
      lost.push_back({incarnation, hung_up, "its connection has ended"});
    } else if (silent >= lost_after_) {
      lost.push_back({incarnation, Gone::kLost, "silent for " + format_seconds(silent)});
    }
  }
  for (const auto& [incarnation, how, why] : lost) {
    // No member is removed while the store cannot be written: the next tick retries.
    if (!remove(incarnation, how, why, context)) return;
  }
}

Status HeadActor::on(const Down& down, Context& context) {
  const Time now = context.clock().now();
  if (down.actor == split_client_.id()) {
    split_client_ = {};
    split_client_gone_since_ = now;
    say("the trainer of job " + state().job().id + " is out of reach");
    return {};
  }
  for (auto& [incarnation, known] : members_) {
    if (known.worker.id() != down.actor) continue;
    known.gone = true;
    lose_the_gone(now, context);
    lease_out(context);
    break;
  }
  return {};
}

Status HeadActor::remove(std::uint64_t incarnation, Gone how, const std::string& why,
                         Context& context) {
  if (auto status = commit(NodeLeft{incarnation}); !status) return status;
  const NodeView node = *view_.find(incarnation);
  const WorkerRef worker = members_[incarnation].worker;
  view_.nodes().erase(incarnation);
  members_.erase(incarnation);
  const std::size_t had = leases_.lose(incarnation).size();
  issued_again_ += had;
  last_gone_ = "worker " + node.name + (how == Gone::kLost ? " was lost: " : " has left: ") + why;
  say(last_gone_ + (had > 0 ? "; " + std::to_string(had) + " splits are issued again" : ""));
  if (how == Gone::kLost) {
    static_cast<void>(context.tell(worker, Evicted{incarnation, why}));
  }
  return {};
}

void HeadActor::refuse(NodeView& node, const std::string& why, Context& context) {
  node.state = NodeView::State::kRefused;
  node.trouble = why;
  issued_again_ += leases_.lose(node.incarnation).size();
  say("refused: " + why);
  lease_out(context);
}

}  // namespace forebay::scheduler
