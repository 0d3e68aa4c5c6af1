#include "engine/actors/cluster/name_resolver.h"

#include <utility>

#include "core/base/deadline.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kSearchAgain(20);
constexpr std::chrono::milliseconds kFollowAgain(100);
/// For one answer of a head or a node.
constexpr std::chrono::seconds kAnswerPatience(2);
/// For the answer to a placement: the actor's constructor runs meanwhile.
constexpr std::chrono::seconds kPlacePatience(35);

Error lost_error(const std::string& node) {
  return {Code::kUnavailable, "the head has lost node " + node};
}

/// Whether another try may succeed.
bool is_passing(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout;
}

}  // namespace

Status NameResolver::on(SpawnNamed&& spawn, Context& context) {
  begin({.name = spawn.place.spec.name,
         .patience = spawn.patience,
         .place = std::make_unique<PlaceActor>(std::move(spawn.place)),
         .found = std::move(spawn.found)},
        context);
  return {};
}

Status NameResolver::on(FindNamed&& find, Context& context) {
  begin({.name = std::move(find.name), .found = std::move(find.found)}, context);
  return {};
}

void NameResolver::begin(Search search, Context& context) {
  if (!std::exchange(follows_, true)) static_cast<void>(on(FollowHead{}, context));
  const std::uint64_t number = ++last_search_;
  search.until =
      deadline_after(context.clock().now(), std::min(search.patience, options_.patience));
  searches_.emplace(number, std::move(search));
  try_now(number, context);
}

Status NameResolver::on(const RetrySearch& retry, Context& context) {
  try_now(retry.search, context);
  return {};
}

void NameResolver::try_now(std::uint64_t number, Context& context) {
  const auto found = searches_.find(number);
  if (found == searches_.end()) return;
  const Search& search = found->second;
  const auto head = net_.actor<DirectoryRef>(options_.head, kDirectoryName);
  if (head.receiver() == nullptr) {
    return retry(number, {Code::kUnavailable, "no head answers at " + options_.head}, context);
  }
  if (search.place != nullptr) {
    return context.ask(head, PlaceActor(*search.place), kPlacePatience,
                       ActorRef<Answered<PlaceActor>>(self(context)), number);
  }
  context.ask(head, FindActor{search.name}, kAnswerPatience,
              ActorRef<Answered<FindActor>>(self(context)), number);
}

void NameResolver::retry(std::uint64_t number, const Error& why, Context& context) {
  const auto found = searches_.find(number);
  if (found == searches_.end()) return;
  const Search& search = found->second;
  if (search.follows == 0 && context.clock().now() >= search.until) {
    return finish(number, tl::unexpected<Error>(why));
  }
  context.after(kSearchAgain, RetrySearch{number});
}

void NameResolver::finish(std::uint64_t number, Result<std::shared_ptr<NamedActor>> found) {
  auto search = searches_.extract(number);
  if (search) search.mapped().found(std::move(found));
}

// After most errors it is not tried again, since the actor may have been placed.
Status NameResolver::on(Answered<PlaceActor>&& placed, Context& context) {
  const auto found = searches_.find(placed.token);
  if (found == searches_.end()) return {};
  if (!placed.result && placed.result.error().code == Code::kNotFound) {
    retry(placed.token, placed.result.error(), context);  // Nodes may join yet.
    return {};
  }
  if (!placed.result) {
    finish(placed.token, pass(placed.result));
    return {};
  }
  found->second.place.reset();
  found->second.at = std::move(*placed.result);
  locate(placed.token, context);
  return {};
}

Status NameResolver::on(Answered<FindActor>&& found, Context& context) {
  const auto search = searches_.find(found.token);
  if (search == searches_.end()) return {};
  if (found.result) {
    search->second.at = std::move(*found.result);
    const std::uint64_t follows = search->second.follows;
    if (follows == 0 || follows == search->second.at.birth) {
      locate(found.token, context);
    } else {
      finish(found.token, fail(Code::kNotFound, "actor " + search->second.name +
                                                    " has ended, and another has its name"));
    }
  } else if (is_passing(found.result.error())) {
    retry(found.token, found.result.error(), context);
  } else {
    finish(found.token, pass(found.result));
  }
  return {};
}

void NameResolver::locate(std::uint64_t number, Context& context) {
  const PlacedActor& at = searches_.at(number).at;
  if (connected_.insert(at.address).second) {
    if (auto status = net_.connect(at.address); !status) {
      connected_.erase(at.address);
      return finish(number,
                    fail(status.error().code, "node " + at.node + ": " + status.error().message));
    }
  }
  const auto node = net_.actor<ActorRef<LocateActor>>(at.address, kActorNodeName);
  if (node.receiver() == nullptr) {
    return retry(number,
                 {Code::kUnavailable,
                  "actor " + at.name + " on node " + at.node + ": no connection to " + at.address},
                 context);
  }
  context.ask(node, LocateActor{at.name, at.life}, kAnswerPatience,
              ActorRef<Answered<LocateActor>>(self(context)), number);
}

Status NameResolver::on(Answered<LocateActor>&& located, Context& context) {
  const auto found = searches_.find(located.token);
  if (found == searches_.end()) return {};
  if (!located.result || located.result->receiver() == nullptr) {
    // It has ended or moved since, which the head learns soon.
    const PlacedActor& at = found->second.at;
    const std::string why = located.result ? "it is not there" : located.result.error().message;
    retry(located.token,
          {Code::kUnavailable, "actor " + at.name + " on node " + at.node + ": " + why}, context);
    return {};
  }
  const PlacedActor& there = found->second.at;
  if (known_.is_lost(there)) {
    retry(located.token, lost_error(there.node), context);
    return {};
  }
  const UserRef& actor = *located.result;
  auto placed = known_.place(there, actor);
  if (placed.is_new) watch(actor, ActorRef<Down>(self(context)));
  finish(located.token, std::move(placed.actor));
  return {};
}

Status NameResolver::on(const Down& down, Context& context) {
  if (down.actor == head_.id()) return on(FollowHead{}, context);
  const auto actor = known_.take(down.actor);
  if (actor == nullptr) return {};
  actor->lose(down.crash);
  search_again(actor, context);
  return {};
}

void NameResolver::search_again(const std::shared_ptr<NamedActor>& actor, Context& context) {
  Search search{.name = actor->name(), .follows = actor->birth()};
  search.found = [actor](Result<std::shared_ptr<NamedActor>> result) {
    if (!result) actor->end(result.error());
  };
  begin(std::move(search), context);
}

Status NameResolver::on(const FollowHead&, Context& context) {
  head_ = net_.actor<DirectoryRef>(options_.head, kDirectoryName);
  if (head_.receiver() == nullptr) {
    context.after(kFollowAgain, FollowHead{});
    return {};
  }
  context.ask(head_, FollowNodes{ActorRef<LostNode>(self(context))}, kAnswerPatience,
              ActorRef<Answered<FollowNodes>>(self(context)));
  return {};
}

Status NameResolver::on(Answered<FollowNodes>&& followed, Context& context) {
  if (!followed.result) {
    context.after(kFollowAgain, FollowHead{});
    return {};
  }
  watch(head_, ActorRef<Down>(self(context)));
  for (const LostNode& lost : *followed.result) static_cast<void>(on(lost, context));
  return {};
}

Status NameResolver::on(const LostNode& lost, Context& context) {
  for (const auto& actor : known_.lose(lost)) {
    actor->cut_off(lost_error(lost.node));
    search_again(actor, context);
  }
  return {};
}

}  // namespace forebay
