// The members: joining, heartbeats, leaving, losses and refusals.

#include <chrono>
#include <utility>

#include "scheduler/head/head_actor.h"

namespace forebay::scheduler {
namespace {

/// The pause before repeating an offer to a worker that has not opened the job: the first one may
/// have been lost.
constexpr std::chrono::seconds kOfferAgain(2);

}  // namespace

Result<Accepted> HeadActor::on(const Join& join, Context& context) {
  const Time now = context.clock().now();
  const std::string open_job = state().job_is_open() ? state().job().id : "";
  if (auto status = members_.check(join, options_, now, open_job); !status) {
    // A worker that joins repeatedly is reported only once.
    const std::string& why = status.error().message;
    if (members_.is_new_refusal(join.name, why)) say("refused: " + why);
    return pass(status);
  }
  if (const Member* before = members_.find(join.name)) {
    auto status =
        remove({before->node.incarnation, Members::Gone::kLost, "it joined again"}, context);
    if (!status) return pass(status);
  }
  const std::uint64_t incarnation = state().last_incarnation() + 1;
  if (auto status = commit(NodeJoined{incarnation, join.name, join.host}); !status) {
    return pass(status);
  }
  members_.add(incarnation, join, options_, now);
  watch(join.worker, ActorRef<Down>(self(context)));
  for (const std::uint64_t split : join.holds) leases_.adopt(incarnation, split, now);
  say("worker " + join.name + " on " + join.host + " has joined");
  say_if_ended(join, context);
  Accepted accepted;
  accepted.incarnation = incarnation;
  accepted.split_client_address = split_client_address_;
  accepted.heartbeat_ns = static_cast<std::uint64_t>(options_.heartbeat.count());
  if (state().job_is_open() && split_client_is_there()) accepted.job = state().job();
  return accepted;
}

Status HeadActor::on(const Prepared& prepared, Context& context) {
  Member* member = members_.active(prepared.incarnation);
  if (member == nullptr) return fail(Code::kNotFound, "this membership has ended");
  if (!state().job_is_open()) return fail(Code::kUnavailable, "there is no job now");
  if (prepared.fingerprint != state().job().fingerprint) {
    const std::string why = "worker " + member->node.name +
                            " finds another dataset, order or operators (" + prepared.fingerprint +
                            ", the trainer " + state().job().fingerprint +
                            "); give it the trainer's files and libraries";
    refuse(*member, why, context);
    return fail(Code::kInvalid, why);
  }
  if (member->node.state == NodeStatus::State::kPrepared) return {};
  member->node.state = NodeStatus::State::kPrepared;
  member->node.trouble.clear();
  lease_out(context);
  return {};
}

Status HeadActor::on(const Heartbeat& heartbeat, Context& context) {
  Member* member = members_.active(heartbeat.incarnation);
  if (member == nullptr) return fail(Code::kNotFound, "this membership has ended");
  const Time now = context.clock().now();
  members_.heard(*member, heartbeat, now);
  leases_.prolong(heartbeat.incarnation, heartbeat.holds, now);
  std::vector<std::uint64_t> unwanted;
  for (const std::uint64_t split : heartbeat.holds) {
    if (!leases_.adopt(heartbeat.incarnation, split, now)) unwanted.push_back(split);
  }
  // While the split client is out of reach, the head may not know yet what is wanted.
  const bool is_known = !state().job_is_open() || split_client_is_there();
  if (is_known && !unwanted.empty()) {
    static_cast<void>(
        context.tell(member->worker, Revoke{heartbeat.incarnation, std::move(unwanted)}));
  }
  const bool waits = member->node.state == NodeStatus::State::kJoined && state().job_is_open();
  if (waits && split_client_is_there() && now - member->offered >= kOfferAgain) {
    offer_job(*member, context);
  }
  lease_out(context);
  return {};
}

Status HeadActor::on(const Leave& leave, Context& context) {
  if (members_.find(leave.incarnation) == nullptr) return {};
  auto status = remove({leave.incarnation, Members::Gone::kLeft, "it was asked to"}, context);
  lease_out(context);
  return status;
}

void HeadActor::lose_the_gone(Time now, Context& context) {
  for (const auto& loss : members_.losses(now, lost_after_, state().job_is_open())) {
    // No member is removed while the store cannot be written: the next tick retries.
    if (!remove(loss, context)) return;
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
  for (auto& [incarnation, member] : members_.all()) {
    if (member.worker.id() != down.actor) continue;
    member.gone = true;
    lose_the_gone(now, context);
    lease_out(context);
    break;
  }
  return {};
}

Status HeadActor::remove(const Members::Loss& loss, Context& context) {
  if (auto status = commit(NodeLeft{loss.incarnation}); !status) return status;
  const WorkerRef worker = members_.find(loss.incarnation)->worker;
  members_.remove(loss);
  const std::size_t had = leases_.lose(loss.incarnation).size();
  issued_again_ += had;
  say(members_.last_gone() +
      (had > 0 ? "; " + std::to_string(had) + " splits are issued again" : ""));
  if (loss.how == Members::Gone::kLost) {
    static_cast<void>(context.tell(worker, Evicted{loss.incarnation, loss.why}));
  }
  return {};
}

void HeadActor::refuse(Member& member, const std::string& why, Context& context) {
  member.node.state = NodeStatus::State::kRefused;
  member.node.trouble = why;
  issued_again_ += leases_.lose(member.node.incarnation).size();
  say("refused: " + why);
  lease_out(context);
}

}  // namespace forebay::scheduler
