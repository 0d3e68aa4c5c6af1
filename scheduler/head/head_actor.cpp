#include "scheduler/head/head_actor.h"

#include <utility>

#include "core/base/text/seconds.h"
#include "scheduler/cluster_status.h"
#include "scheduler/head/head_status.h"

namespace forebay::scheduler {

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

// A trainer that is out of reach may live: the head or its network was paused. Only a later run of
// the same job knows that it is dead, since it holds the same folder. A head in a trainer's process
// begins with that trainer, so the job of before in its store is over.
Status HeadActor::check_place(const JobShare& job) const {
  if (!state().job_is_open() || state().job().id == job.id) return {};
  if (split_client_is_there()) {
    return fail(Code::kOverloaded, "the head serves job " + state().job().id +
                                       " and takes one at a time; wait until it has ended");
  }
  const bool in_trainer = options_.trainer_pid != 0;
  if (in_trainer || state().job().goes_on_as(job)) return {};
  return fail(Code::kOverloaded, "the head waits " + format_seconds(options_.rejoin) +
                                     " for the trainer of job " + state().job().id +
                                     ", which is out of reach, and takes one job at a time");
}

Result<JobOpened> HeadActor::on(const OpenJob& open, Context& context) {
  if (auto status = check_place(open.job); !status) return pass(status);
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
    lowest_ = {};
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
  const bool we_slept = slept(now);
  last_tick_ = now;
  if (!store_error_.empty()) {
    // Only a write shows whether the store works again.
    static_cast<void>(commit(LearnedStateSaved{"store/probe", ""}));
  }
  if (we_slept) {
    // This process was paused, not the others: their messages are still in the mailbox.
    for (auto& [incarnation, member] : members_.all()) member.last_heard = now;
    if (split_client_gone_since_) split_client_gone_since_ = now;
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
