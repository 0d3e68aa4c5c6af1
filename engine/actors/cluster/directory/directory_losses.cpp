// The directory's part when nodes are lost.
#include <chrono>
#include <string>
#include <vector>

#include "engine/actors/cluster/directory/actor_directory.h"

namespace forebay {
namespace {

constexpr std::size_t kMostFollowers = 65'536;

}  // namespace

Status ActorDirectory::on(const LoseMissingNodes&, Context& context) {
  for (const std::string& node : table_.missing_nodes()) {
    lose(node, "it has not come back since the head was started", context);
  }
  return {};
}

Status ActorDirectory::on(const Down& down, Context& context) {
  const ActorTable::Node* node = table_.node_of(down.actor);
  if (node == nullptr) {  // It has registered again since, or is a program.
    followers_.erase(down.actor);
    return {};
  }
  const std::string name = node->name;
  lose(name, down.crash ? down.crash->message : "it has ended", context);
  return {};
}

void ActorDirectory::lose(const std::string& node, const std::string& why, Context& context) {
  uses_.erase(node);
  libraries_.remove(node);
  const std::chrono::nanoseconds begin(options_.begin);
  const ActorTable::Loss loss = table_.lose(node, begin + context.clock().now() - begun_);
  for (const auto& [id, follower] : followers_) {
    static_cast<void>(follower.tell(LostNode(loss.node)));
  }
  const std::string lost = "node " + node + " was lost: " + why;
  say(lost + "; it had " + std::to_string(loss.lives.size()) + " actors");
  for (const std::uint64_t life : loss.lives) {
    if (const AskerPtr asker = take_asker(life)) {
      asker->answer(fail(Code::kUnavailable, lost));
    }
  }
  settle_groups(context);
  for (const std::string& moving : loss.moving) changed(moving, context);
  for (const std::string& ended : loss.ended) {
    say("actor " + ended + " has ended with its node: no restart is left");
    changed(ended, context);
  }
  place_waiting(context);
}

Result<std::vector<LostNode>> ActorDirectory::on(const FollowNodes& follow, Context& context) {
  if (follow.follower.receiver() == nullptr) {
    return fail(Code::kInvalid, "who follows nodes must be named");
  }
  const ActorId id = follow.follower.id();
  if (!followers_.contains(id)) {  // A program that got no answer asks again.
    if (followers_.size() >= kMostFollowers) {
      return fail(Code::kOverloaded, "too many programs follow the nodes");
    }
    followers_.emplace(id, follow.follower);
    watch(follow.follower, ActorRef<Down>(self(context)));
  }
  return table_.lost_nodes().list();
}

}  // namespace forebay
