#include "engine/actors/objects/object_sources.h"

namespace forebay {

void ObjectSources::remove(ActorId holder) {
  holders_.erase(holder);
  for (auto& [id, other] : holders_) {
    if (other.source == holder) other.source = ActorId::kNobody;  // it asks for another one
  }
}

std::string ObjectSources::choose(ActorId holder, const std::string& failed) {
  Holder& asking = holders_[holder];
  if (!failed.empty()) asking.failed.insert(failed);
  asking.fetches = false;
  const auto load = loads();
  const auto load_of = [&load](ActorId id) {
    const auto found = load.find(id);
    return found == load.end() ? std::size_t{0} : found->second;
  };
  ActorId best = ActorId::kNobody;
  for (const auto& [id, other] : holders_) {
    if (!other.fetches || other.address.empty() || asking.failed.contains(other.address) ||
        depends(id, holder)) {
      continue;
    }
    const bool is_better =
        best == ActorId::kNobody ? load_of(id) <= load_of(best) : load_of(id) < load_of(best);
    if (is_better) best = id;
  }
  asking.fetches = true;
  asking.source = best;
  return best == ActorId::kNobody ? "" : holders_[best].address;
}

void ObjectSources::complete(ActorId holder) {
  const auto found = holders_.find(holder);
  if (found != holders_.end()) found->second.is_complete = found->second.fetches = true;
}

/// How many fetch from each source now.
std::map<ActorId, std::size_t> ObjectSources::loads() const {
  std::map<ActorId, std::size_t> loads;
  for (const auto& [id, holder] : holders_) {
    if (holder.fetches && !holder.is_complete) ++loads[holder.source];
  }
  return loads;
}

/// Whether what this holder will have comes from `on`.
bool ObjectSources::depends(ActorId holder, ActorId on) const {
  while (holder != ActorId::kNobody) {
    if (holder == on) return true;
    const auto found = holders_.find(holder);
    if (found == holders_.end() || found->second.is_complete) return false;
    holder = found->second.source;
  }
  return false;
}

}  // namespace forebay
