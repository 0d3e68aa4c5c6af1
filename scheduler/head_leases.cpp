#include <utility>

#include "scheduler/head_actor.h"

// Leases splits to workers, and again after a failure.
namespace forebay::scheduler {

Status HeadActor::on(const GiveBack& back, Context& context) {
  NodeView* node = member(back.incarnation);
  if (node == nullptr) return fail(Code::kNotFound, "this membership has ended");
  for (const std::uint64_t split : back.splits) {
    issued_again_ += leases_.give_back(back.incarnation, split) ? 1 : 0;
  }
  members_[back.incarnation].blocked = true;  // It has enough or leaves; its next heartbeat shows.
  if (!back.error.empty()) refuse(*node, "worker " + node->name + ": " + back.error, context);
  lease_out(context);
  return {};
}

Status HeadActor::on(const Issue& issue, Context& context) {
  if (auto status = check_session(issue.session); !status) return status;
  for (const std::uint64_t split : issue.splits) {
    const bool known = split >= state().num_splits() || state().finished().contains(split);
    if (!known && leases_.num_missing() < kMostIssued) leases_.issue(split);
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
    for (const std::uint64_t holder : ended->holders) revoke(holder, {split}, context);
  }
  lease_out(context);
  return {};
}

Status HeadActor::on(const Finished& finished, Context&) {
  if (auto status = check_session(finished.session); !status) return status;
  return commit(SplitsFinished{finished.session, finished.below, finished.ranges});
}

bool HeadActor::reachable(std::uint64_t incarnation) const {
  const Member& known = members_.at(incarnation);
  return !known.blocked && !known.gone;
}

bool HeadActor::may_lease() {
  if (leases_.num_waiting() == 0 || !split_client_is_there() || !store_error_.empty()) return false;
  enough_workers_ = enough_workers_ || view_.num_prepared() >= min_workers_;
  return enough_workers_;
}

void HeadActor::lease_out(Context& context) {
  if (!may_lease()) return;
  std::vector<NodeCapacity> capacities;
  capacities.reserve(view_.nodes().size());
  for (const auto& [incarnation, node] : view_.nodes()) {
    if (node.state != NodeView::State::kPrepared || !reachable(incarnation)) continue;
    capacities.push_back({.node = incarnation,
                          .capacity = node.capacity,
                          .used = leases_.num_leases(incarnation),
                          .distance = node.distance});
  }
  for (const Share& share : share_out(options_.placement, capacities, leases_.num_waiting())) {
    lease_to(share.node, share.count, context);
  }
}

void HeadActor::lease_to(std::uint64_t incarnation, std::uint64_t count, Context& context) {
  const auto splits = leases_.lease(incarnation, count, context.clock().now());
  if (context.tell(members_[incarnation].worker, Lease{incarnation, splits})) return;
  for (const std::uint64_t split : splits) leases_.give_back(incarnation, split);
  members_[incarnation].blocked = true;
}

void HeadActor::reissue_straggler(Context& context) {
  const auto lowest = leases_.lowest();
  const auto patience = options_.straggler.patience(usual_);
  const Time now = context.clock().now();
  if (!lowest || lowest->holders.size() != 1 || !patience || !split_client_is_there()) return;
  if (now - lowest->since <= *patience || !store_error_.empty()) return;
  const NodeView* fastest = nullptr;
  for (const auto& [incarnation, node] : view_.nodes()) {
    if (incarnation == lowest->holders.front() || node.state != NodeView::State::kPrepared)
      continue;
    // May exceed the capacity by one split, because the trainer waits for this split.
    const bool has_room = leases_.num_leases(incarnation) <= node.capacity;
    if (!reachable(incarnation) || node.capacity == 0 || !has_room) continue;
    if (fastest == nullptr || node.rate > fastest->rate) fastest = &node;
  }
  if (fastest == nullptr) return;
  const std::uint64_t second = fastest->incarnation;
  if (!leases_.lease_again(second, lowest->split, now)) return;
  if (!context.tell(members_[second].worker, Lease{second, {lowest->split}})) {
    leases_.give_back(second, lowest->split);
    return;
  }
  ++issued_again_;
  const NodeView* late = view_.find(lowest->holders.front());
  say("worker " + (late == nullptr ? std::string("?") : late->name) + " is late with split " +
      std::to_string(lowest->split) + "; worker " + fastest->name + " makes it, too");
}

void HeadActor::revoke(std::uint64_t incarnation, std::vector<std::uint64_t> splits,
                       Context& context) {
  const auto member = members_.find(incarnation);
  if (member == members_.end()) return;
  static_cast<void>(context.tell(member->second.worker, Revoke{incarnation, std::move(splits)}));
}

}  // namespace forebay::scheduler
