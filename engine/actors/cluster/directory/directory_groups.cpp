// Actors that are placed together.
#include <memory>
#include <utility>
#include <vector>

#include "engine/actors/cluster/directory/actor_directory.h"

namespace forebay {
namespace {

constexpr std::size_t kMostTogether = 1024;  // actors of a group

}  // namespace

Result<std::vector<PlacedActor>> ActorDirectory::on(
    PlaceGroup&& group, std::unique_ptr<Replier<std::vector<PlacedActor>>>& asker,
    Context& context) {
  if (asker == nullptr || group.members.empty() || group.members.size() > kMostTogether) {
    return fail(Code::kInvalid, "a group has 1 to 1024 actors");
  }
  const auto starting = std::make_shared<Group>();
  for (PlaceActor& place : group.members) {
    if (auto status = table_.check(place); !status) {
      starting->error = status.error();
      break;
    }
    const std::size_t index = starting->members.size();
    AskerPtr one = reply_to<PlacedActor>([starting, index](Result<PlacedActor> placed) {
      --starting->left;
      if (placed) {
        starting->members[index] = std::move(*placed);
      } else if (!starting->error) {
        starting->error = placed.error();
      }
    });
    ++starting->left;
    PlacedActor& member = starting->members.emplace_back();
    member.name = place.spec.name;
    member.birth = place_new(place, std::move(one), context);
  }
  if (starting->error) {
    end_group(*starting, context);
    return tl::unexpected<Error>(*starting->error);
  }
  starting->asker = std::move(asker);
  groups_.push_back(starting);
  return std::vector<PlacedActor>();  // The asker is answered later.
}

/// Answers for the groups whose last actor has started or failed.
void ActorDirectory::settle_groups(Context& context) {
  for (auto at = groups_.begin(); at != groups_.end();) {
    if ((*at)->left > 0) {
      ++at;
      continue;
    }
    const std::shared_ptr<Group> group = *at;
    at = groups_.erase(at);
    if (group->error) {
      end_group(*group, context);
      group->asker->answer(tl::unexpected<Error>(*group->error));
    } else {
      group->asker->answer(std::move(group->members));
    }
  }
}

void ActorDirectory::end_group(const Group& group, Context& context) {
  for (const PlacedActor& member : group.members) {
    const ActorTable::Entry* entry = table_.find(member.name);
    if (entry == nullptr || entry->spec.birth != member.birth) continue;
    const ActorTable::Node* node = table_.node_named(entry->node);
    if (node != nullptr) static_cast<void>(node->ref.tell(EndActor{member.name, entry->life}));
    static_cast<void>(take_asker(entry->life));
    remove(member.name, context);
  }
}

}  // namespace forebay
