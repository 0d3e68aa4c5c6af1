#include "scheduler/head_actor.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/format_seconds.h"

// The head's start, its jobs and its stored state; members, leases and status have their own files.
namespace forebay::scheduler {
namespace {

/// The splits that a split client reports as issued and not arrived.
Result<std::set<std::uint64_t>> wanted_of(const OpenJob& open) {
  std::uint64_t count = 0;
  for (const SplitRange& range : open.issued) {
    const bool fits =
        range.first <= range.last && range.last - range.first < HeadActor::kMostIssued;
    if (fits) count += range.last - range.first + 1;
    if (!fits || count > HeadActor::kMostIssued) {
      return fail(Code::kInvalid, "a feed says to have more splits issued than can be");
    }
  }
  std::set<std::uint64_t> wanted;
  for (const SplitRange& range : open.issued) {
    for (std::uint64_t split = range.first; split <= range.last; ++split) wanted.insert(split);
  }
  for (const std::uint64_t split : open.arrived) wanted.erase(split);
  return wanted;
}

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
    awaited_[node.name] = now;
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
    awaited_.clear();  // It and last_gone_ are about workers of the previous job.
    last_gone_.clear();
    for (auto& [incarnation, node] : view_.nodes()) {
      node.state = NodeView::State::kJoined;
      node.trouble.clear();
    }
  }
  const Time now = context.clock().now();
  for (const std::uint64_t split : leases_.missing()) {
    if (!wanted->contains(split)) leases_.arrived(split, now);
  }
  for (const std::uint64_t split : *wanted) {
    if (!state().finished().contains(split)) leases_.issue(split);
  }
  min_workers_ = open.min_workers;
  // After a restart of the head: if a split has arrived, the minimum of workers was reached before.
  enough_workers_ = (same_job && enough_workers_) || !open.arrived.empty();
  split_client_ = open.split_client;
  split_client_address_ = open.split_client_address;
  split_client_gone_since_.reset();
  watch(split_client_, ActorRef<Down>(self(context)));
  say("job " + open.job.id + " is open, " + std::to_string(state().finished().size()) + " of " +
      std::to_string(state().num_splits()) + " splits are done");
  for (const auto& [incarnation, node] : view_.nodes()) offer_job(incarnation, context);
  lease_out(context);
  return JobOpened{session};
}

// An offer may be lost in transit, so it is repeated while the worker's heartbeats do not confirm
// it.
void HeadActor::offer_job(std::uint64_t incarnation, Context& context) {
  Member& known = members_[incarnation];
  known.offered = context.clock().now();
  static_cast<void>(
      context.tell(known.worker, JobOffer{incarnation, state().job(), split_client_address_}));
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
    for (auto& [incarnation, node] : view_.nodes()) node.last_heard = now;
    return {};
  }
  lose_the_gone(now, context);
  for (const auto& expired : leases_.expire(now)) {
    ++issued_again_;
    if (const NodeView* node = view_.find(expired.holder)) {
      say("split " + std::to_string(expired.split) + " did not come from worker " + node->name +
          " in time; it is issued again");
    }
  }
  close_abandoned_job(now, context);
  std::erase_if(awaited_, [&](const auto& one) { return now - one.second > options_.rejoin; });
  const bool starving = state().job_is_open() && view_.num_prepared() == 0;
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
  for (auto& [incarnation, node] : view_.nodes()) {
    node.state = NodeView::State::kJoined;
    static_cast<void>(
        context.tell(members_[incarnation].worker, JobEnded{state().job().id, error}));
  }
  leases_ = LeaseTable(options_.lease);
  split_client_ = {};
  split_client_address_.clear();
  split_client_gone_since_.reset();
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

}  // namespace forebay::scheduler
