#include "scheduler/head/head_actor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/head_status.h"
#include "scheduler/head/placement.h"
#include "scheduler/head/straggler.h"

namespace forebay::scheduler {
namespace {

/// The pause before repeating an offer to a worker that has not opened the job: the first one may
/// have been lost.
constexpr std::chrono::seconds kOfferAgain(2);

}  // namespace

HeadActor::HeadActor(std::shared_ptr<Journal> journal, HeadOptions options)
    : journal_(std::move(journal)),
      options_(std::move(options)),
      lost_after_(options_.heartbeat * options_.lost_after),
      leases_(options_.lease) {}

// Members from before a restart lose their membership: each joins again and names the splits it
// holds.
Status HeadActor::on(const BeginHead&, Context& context) {
  const Time now = context.clock().now();
  last_tick_ = now;
  for (const auto& [incarnation, node] : state().nodes()) {
    members_.awaited()[node.name] = now;
    journal_->record(NodeLeft{incarnation});
  }
  if (auto status = journal_->flush(); !status) store_error_ = status.error().message;
  if (state().job_is_open()) split_client_gone_since_ = now;
  context.after(options_.heartbeat, HeadTick{});
  return {};
}

Status HeadActor::commit(const HeadState::Event& event) {
  Status status = journal_->commit(event);
  const bool refused_by_state =
      !status && (status.error().code == Code::kInvalid || status.error().code == Code::kNotFound);
  if (refused_by_state) return status;
  const std::string error = status ? "" : status.error().message;
  if (error != store_error_) {
    say(status ? "the store can be written again"
               : "nothing new is leased, the store cannot be written: " + error);
  }
  store_error_ = error;
  return status;
}

Status HeadActor::check_session(std::uint64_t session) const {
  if (state().job_is_open() && split_client_is_there() && session == state().session()) return {};
  return fail(Code::kNotFound,
              "session " + std::to_string(session) + " is over; open the job again");
}

Result<JobOpened> HeadActor::on(const OpenJob& open, Context& context) {
  const bool other_lives =
      state().job_is_open() && state().job().id != open.job.id && split_client_is_there();
  if (other_lives) {
    return fail(Code::kOverloaded, "the head serves job " + state().job().id +
                                       " and takes one at a time; wait until it has ended");
  }
  if (open.split_client.receiver() == nullptr)
    return fail(Code::kInvalid, "a job is opened by its feed");
  auto wanted = wanted_of(open);
  if (!wanted) return pass(wanted);
  const bool same_job = state().job_is_open() && state().job() == open.job;
  const std::uint64_t session = state().session() + 1;
  auto status = commit(JobOpening{open.job, session, open.finished_below, open.finished});
  if (!status) return pass(status);
  if (!same_job) {
    leases_ = LeaseTable(options_.lease);
    usual_ = {};
    members_.forget_job();
  }
  leases_.reopen(*wanted, state().finished(), context.clock().now());
  if (same_job) adopt_held(context.clock().now());
  min_workers_ = open.min_workers;
  // After a restart of the head: if a split has arrived, the minimum of workers was reached before.
  enough_workers_ = (same_job && enough_workers_) || !open.arrived.empty();
  split_client_ = open.split_client;
  split_client_address_ = open.split_client_address;
  split_client_gone_since_.reset();
  watch(split_client_, ActorRef<Down>(self(context)));
  say("job " + open.job.id + " is open, " + std::to_string(state().finished().size()) + " of " +
      std::to_string(state().num_splits()) + " splits are done");
  for (auto& [incarnation, member] : members_.all()) offer_job(member, context);
  lease_out(context);
  return JobOpened{session};
}

// After a restart of the head its members hold splits of the job, made or being made.
void HeadActor::adopt_held(Time now) {
  for (const auto& [incarnation, member] : members_.all()) {
    for (const std::uint64_t split : member.holds) leases_.adopt(incarnation, split, now);
  }
}

// An offer may be lost in transit, so it is repeated while the worker's heartbeats do not confirm
// it.
void HeadActor::offer_job(Member& member, Context& context) {
  member.offered = context.clock().now();
  static_cast<void>(context.tell(
      member.worker, JobOffer{member.node.incarnation, state().job(), split_client_address_}));
}

Status HeadActor::on(const CloseJob& close, Context& context) {
  if (auto status = check_session(close.session); !status) return status;
  if (auto status = commit(JobClosing{close.session}); !status) return status;
  end_job(close.error, context);
  return {};
}

Status HeadActor::on(const HeadTick&, Context& context) {
  context.after(options_.heartbeat, HeadTick{});
  const Time now = context.clock().now();
  const bool we_slept = now - last_tick_ > lost_after_ / 2;
  last_tick_ = now;
  if (!store_error_.empty()) {
    // Only a write shows whether the store works again.
    static_cast<void>(commit(LearnedStateSaved{"store/probe", ""}));
  }
  if (we_slept) {
    // This process was paused, not the workers: their messages are still in the mailbox.
    for (auto& [incarnation, member] : members_.all()) member.last_heard = now;
    return {};
  }
  lose_the_gone(now, context);
  for (const auto& expired : leases_.expire(now)) {
    ++issued_again_;
    if (const Member* member = members_.find(expired.holder)) {
      say("split " + std::to_string(expired.split) + " did not come from worker " +
          member->node.name + " in time; it is issued again");
    }
  }
  close_abandoned_job(now, context);
  std::erase_if(members_.awaited(),
                [&](const auto& one) { return now - one.second > options_.rejoin; });
  const bool starving = state().job_is_open() && members_.num_prepared() == 0;
  if (!starving) no_worker_since_.reset();
  if (starving && !no_worker_since_) no_worker_since_ = now;
  reissue_straggler(context);
  lease_out(context);
  return {};
}

void HeadActor::close_abandoned_job(Time now, Context& context) {
  if (!split_client_gone_since_ || now - *split_client_gone_since_ < options_.rejoin) return;
  if (!commit(JobClosing{state().session()})) return;
  end_job("its trainer has not come back for " + format_seconds(options_.rejoin), context);
}

void HeadActor::end_job(const std::string& error, Context& context) {
  say("job " + state().job().id + (error.empty() ? " has ended" : " has ended: " + error));
  for (auto& [incarnation, member] : members_.all()) {
    member.node.state = NodeStatus::State::kJoined;
    static_cast<void>(context.tell(member.worker, JobEnded{state().job().id, error}));
  }
  ended_error_ = error;
  leases_ = LeaseTable(options_.lease);
  split_client_ = {};
  split_client_address_.clear();
  split_client_gone_since_.reset();
}

// A worker that was frozen or out of reach when its job ended was no member then.
void HeadActor::say_if_ended(const Join& join, Context& context) {
  if (join.job.empty() || join.job != state().job().id || state().job_is_open()) return;
  static_cast<void>(context.tell(join.worker, JobEnded{join.job, ended_error_}));
}

void HeadActor::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

Status HeadActor::on(const SaveLearnedState& keep, Context&) {
  return commit(LearnedStateSaved{keep.key, keep.text});
}

Result<std::string> HeadActor::on(const FindLearnedState& find, Context&) {
  const auto found = state().learned_state().find(find.key);
  if (found != state().learned_state().end()) return found->second;
  return fail(Code::kNotFound, "no experience was kept for " + find.key);
}

// The members: joining, heartbeats, leaving, losses and refusals.

Result<Accepted> HeadActor::on(const Join& join, Context& context) {
  const Time now = context.clock().now();
  if (auto status = members_.check(join, options_, now); !status) {
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

// The leases of splits, also again after a failure.

Status HeadActor::on(const GiveBack& back, Context& context) {
  Member* member = members_.active(back.incarnation);
  if (member == nullptr) return fail(Code::kNotFound, "this membership has ended");
  for (const std::uint64_t split : back.splits) {
    issued_again_ += leases_.give_back(back.incarnation, split) ? 1 : 0;
  }
  member->blocked = true;  // It has enough or leaves; its next heartbeat shows.
  if (!back.error.empty())
    refuse(*member, "worker " + member->node.name + ": " + back.error, context);
  lease_out(context);
  return {};
}

Status HeadActor::on(const Issue& issue, Context& context) {
  if (auto status = check_session(issue.session); !status) return status;
  for (const std::uint64_t split : issue.splits) {
    const bool known = split >= state().num_splits() || state().finished().contains(split);
    if (!known && leases_.num_missing() < LeaseTable::kMostIssued) leases_.issue(split);
  }
  lease_out(context);
  return {};
}

Status HeadActor::on(const Arrived& arrived, Context& context) {
  if (auto status = check_session(arrived.session); !status) return status;
  const Time now = context.clock().now();
  for (const std::uint64_t split : arrived.splits) {
    const auto ended = leases_.arrived(split, now);
    if (!ended) continue;
    if (ended->took) usual_.saw(*ended->took);
    // Two workers had this split, and one of them works in vain. Its next heartbeat would show
    // that, too, but this stops it earlier.
    if (ended->holders.size() < 2) continue;
    for (const std::uint64_t holder : ended->holders) {
      const Member* member = members_.find(holder);
      if (member != nullptr) {
        static_cast<void>(context.tell(member->worker, Revoke{holder, {split}}));
      }
    }
  }
  lease_out(context);
  return {};
}

Status HeadActor::on(const Finished& finished, Context&) {
  if (auto status = check_session(finished.session); !status) return status;
  return commit(SplitsFinished{finished.session, finished.below, finished.ranges});
}

bool HeadActor::may_lease() {
  if (leases_.num_waiting() == 0 || !split_client_is_there() || !store_error_.empty()) return false;
  enough_workers_ = enough_workers_ || members_.num_prepared() >= min_workers_;
  return enough_workers_;
}

void HeadActor::lease_out(Context& context) {
  if (!may_lease()) return;
  for (const Share& share : share_out(options_.placement, members_, leases_)) {
    lease_to(*members_.find(share.node), share.count, context);
  }
}

void HeadActor::lease_to(Member& member, std::uint64_t count, Context& context) {
  const std::uint64_t incarnation = member.node.incarnation;
  const auto splits = leases_.lease(incarnation, count, context.clock().now());
  std::vector<std::uint64_t> again;
  std::ranges::copy_if(splits, std::back_inserter(again),
                       [this](std::uint64_t split) { return leases_.is_again(split); });
  if (context.tell(member.worker, Lease{incarnation, splits, std::move(again)})) return;
  for (const std::uint64_t split : splits) leases_.give_back(incarnation, split);
  member.blocked = true;
}

void HeadActor::reissue_straggler(Context& context) {
  if (!split_client_is_there() || !store_error_.empty()) return;
  const Time now = context.clock().now();
  const auto second = second_lease(options_.straggler, usual_, leases_, members_, now);
  if (!second || !leases_.lease_again(second->other, second->split, now)) return;
  const Member& fastest = *members_.find(second->other);
  if (!context.tell(fastest.worker, Lease{second->other, {second->split}, {second->split}})) {
    leases_.give_back(second->other, second->split);
    return;
  }
  ++issued_again_;
  const Member* late = members_.find(second->late);
  say("worker " + (late == nullptr ? std::string("?") : late->node.name) + " is late with split " +
      std::to_string(second->split) + "; worker " + fastest.node.name + " makes it, too");
}

Result<ClusterStatus> HeadActor::on(const QueryCluster&, Context& context) {
  return status_of({.options = options_,
                    .state = state(),
                    .members = members_,
                    .leases = leases_,
                    .store_error = store_error_,
                    .split_client_gone_since = split_client_gone_since_,
                    .no_worker_since = no_worker_since_,
                    .workers_awaited = enough_workers_ ? 0 : min_workers_,
                    .issued_again = issued_again_,
                    .now = context.clock().now()});
}

}  // namespace forebay::scheduler
