// The leases of splits, also again after a failure.

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/head/head_actor.h"
#include "scheduler/head/placement.h"
#include "scheduler/head/straggler.h"

namespace forebay::scheduler {

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

}  // namespace forebay::scheduler
