// The leases of splits, also again after a failure.

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/head/head_actor.h"
#include "scheduler/head/placement.h"
#include "scheduler/head/straggler.h"

namespace forebay::scheduler {
namespace {

/// Whether the user may be told now that the member is late; then the next lines have to wait.
bool may_say_late(Member& member, Member::Time now) {
  constexpr Member::Time kPause = std::chrono::seconds(10);
  if (member.said_late && now - *member.said_late < kPause) return false;
  member.said_late = now;
  return true;
}

}  // namespace

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
  lowest_.look(leases_, context.clock().now());
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
    judge(split, *ended, context);
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
  lowest_.look(leases_, now);
  lease_out(context);
  return {};
}

// A split that all waited for took much longer than such splits usually do.
void HeadActor::judge(std::uint64_t split, const LeaseTable::Ended& ended, Context& context) {
  const StragglerRule rule{.times_usual = options_.straggler.times_usual,
                           .at_least = std::chrono::milliseconds(100)};
  const Time now = context.clock().now();
  // Of two holders, the first was found to be late before.
  if (ended.holders.size() != 1 || slept(now)) return;
  Member* member = members_.find(ended.holders.front());
  if (member == nullptr) return;
  const auto waited = lowest_.waited_for(split, now);
  const auto patience = rule.patience(lowest_.usual);
  if (waited) lowest_.usual.saw(*waited);
  const bool late = waited && patience && *waited > *patience;
  if (!late) return member->allowance.in_time();
  const std::uint64_t holder = member->node.incarnation;
  if (others_idle(holder, leases_, members_)) {
    let_hold_less(*member, leases_.leases_of(holder), context);
  }
}

// What the member holds beside a late split, above its new allowance, is leased to others at once.
void HeadActor::let_hold_less(Member& member, std::vector<std::uint64_t> held, Context& context) {
  const Time now = context.clock().now();
  const std::uint64_t holder = member.node.incarnation;
  member.allowance.late(held.size(), now);
  const std::uint64_t most = member.allowance.most(now);
  if (may_say_late(member, now)) {
    say("worker " + member.node.name + " keeps the others waiting; it gets " +
        (most == 0 ? "no splits for a while"
                   : "at most " + std::to_string(most) + " splits at a time"));
  }
  if (held.size() <= most) return;
  held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(most));
  for (const std::uint64_t split : held) {
    issued_again_ += leases_.give_back(holder, split) ? 1 : 0;
  }
  static_cast<void>(context.tell(member.worker, Revoke{holder, held}));
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
  for (const Share& share :
       share_out(options_.placement, members_, leases_, context.clock().now())) {
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
  if (!second) return;
  const bool all_wait = others_idle(second->late, leases_, members_);
  if (!leases_.lease_again(second->other, second->split, now)) return;
  const Member& fastest = *members_.find(second->other);
  if (!context.tell(fastest.worker, Lease{second->other, {second->split}, {second->split}})) {
    leases_.give_back(second->other, second->split);
    return;
  }
  ++issued_again_;
  Member* late = members_.find(second->late);
  if (late != nullptr && may_say_late(*late, now)) {
    say("worker " + late->node.name + " is late with split " + std::to_string(second->split) +
        "; worker " + fastest.node.name + " makes it, too");
  }
  if (late == nullptr || !all_wait) return;
  std::vector<std::uint64_t> others = leases_.leases_of(second->late);
  std::erase(others, second->split);
  let_hold_less(*late, std::move(others), context);
}

}  // namespace forebay::scheduler
