#include "engine/actors/cluster/known_actors.h"

#include <algorithm>
#include <utility>

namespace forebay {

KnownActors::Placed KnownActors::place(const PlacedActor& at, const UserRef& reference) {
  auto actor = named(at);
  actor->move_to(at.node, reference.receiver());
  const auto [location, is_new] = locations_.try_emplace(reference.id());
  location->second = {.at = reference, .actor = actor, .node = at.node, .life = at.life};
  return {std::move(actor), is_new};
}

std::shared_ptr<NamedActor> KnownActors::take(ActorId reference) {
  const auto found = locations_.extract(reference);
  return found ? found.mapped().actor.lock() : nullptr;
}

std::vector<std::shared_ptr<NamedActor>> KnownActors::lose(const LostNode& lost) {
  lost_.add(lost);
  std::vector<std::shared_ptr<NamedActor>> cut_off;
  std::erase_if(locations_, [&](const auto& one) {
    const Location& location = one.second;
    if (!lost_.has(location.node, location.life)) return false;
    if (auto actor = location.actor.lock()) cut_off.push_back(std::move(actor));
    return true;
  });
  return cut_off;
}

std::shared_ptr<NamedActor> KnownActors::named(const PlacedActor& at) {
  if (actors_.size() >= to_sweep_at_) {
    std::erase_if(actors_, [](const auto& one) { return one.second.expired(); });
    to_sweep_at_ = std::max<std::size_t>(1024, 2 * actors_.size());
  }
  std::weak_ptr<NamedActor>& known = actors_[at.birth];
  if (auto there = known.lock()) return there;
  auto made = std::make_shared<NamedActor>(host_, at.name, at.birth);
  known = made;
  return made;
}

}  // namespace forebay
