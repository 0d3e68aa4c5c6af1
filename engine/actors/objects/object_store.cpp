#include "engine/actors/objects/object_store.h"

#include <algorithm>

// The owner's part: references, holders, and bytes for others. object_fetch.cpp has the borrower's.

namespace forebay {
namespace {

/// Questions that wait for bytes of one object.
constexpr std::size_t kMostParked = 1024;

Result<ObjectChunk> chunk_of(const Frame& whole, const ObjectRange& range) {
  if (range.offset > whole.size() || range.size > whole.size() - range.offset) {
    return fail(Code::kInvalid, "the object has no such bytes");
  }
  return ObjectChunk{range.offset, {{whole.keeper(), whole.data() + range.offset, range.size}}};
}

}  // namespace

Status ObjectStore::on(TrackObject&& track, Context& context) {
  const ObjectKey key = track.object.info.key;
  if (key.process == options_.process) {
    ++owned_[key.number].references;
    if (track.bytes) memory_->add(track.object.info, std::move(*track.bytes));
    return {};
  }
  const auto [known, is_new] = borrowed_.try_emplace(key);
  Borrowed& object = known->second;
  ++object.references;
  if (!is_new && object.state != Borrowed::State::kLost) return {};
  object.object = std::move(track.object);
  object.state = Borrowed::State::kFinding;
  object.until = context.clock().now() + options_.patience;
  find_owner(object, context);
  return {};
}

Status ObjectStore::on(const DropObject& drop, Context& context) {
  if (Owned* object = owned(drop.key)) {
    --object->references;
    end_if_unused(drop.key);
    return {};
  }
  const auto found = borrowed_.find(drop.key);
  if (found != borrowed_.end() && --found->second.references == 0) let_go(drop.key, context);
  return {};
}

ObjectStore::Owned* ObjectStore::owned(const ObjectKey& key) {
  const auto found = key.process == options_.process ? owned_.find(key.number) : owned_.end();
  return found == owned_.end() ? nullptr : &found->second;
}

void ObjectStore::end_if_unused(const ObjectKey& key) {
  const Owned* object = owned(key);
  if (object == nullptr || object->references > 0 || !object->holders.empty()) return;
  owned_.erase(key.number);
  memory_->erase(key);
}

Status ObjectStore::on(const HoldObject& hold, Context& context) {
  Owned* object = owned(hold.key);
  if (object == nullptr || hold.holder.receiver() == nullptr) {
    return fail(Code::kNotFound, "the object is gone");
  }
  object->holders.add(hold.holder.id(), hold.address);
  if (holders_.emplace(hold.holder.id(), hold.holder).second) {
    watch(hold.holder, ActorRef<Down>(self(context)));
  }
  return {};
}

Status ObjectStore::on(const ReleaseObject& release, Context&) {
  if (Owned* object = owned(release.key)) object->holders.remove(release.holder.id());
  end_if_unused(release.key);
  return {};
}

Result<std::string> ObjectStore::on(const LocateObject& locate, Context&) {
  Owned* object = owned(locate.key);
  if (object == nullptr || !object->holders.has(locate.holder.id())) {
    return fail(Code::kNotFound, "the process does not hold the object");
  }
  return object->holders.choose(locate.holder.id(), locate.failed);
}

Status ObjectStore::on(const ObjectFetched& fetched, Context&) {
  if (Owned* object = owned(fetched.key)) object->holders.complete(fetched.holder.id());
  return {};
}

Result<ObjectChunk> ObjectStore::on(PullObject&& pull, std::unique_ptr<Replier<ObjectChunk>>& asker,
                                    Context& context) {
  const ObjectRange range{pull.offset, pull.size};
  if (range.size > kObjectChunk) return fail(Code::kInvalid, "too many bytes are asked for");
  const auto found = borrowed_.find(pull.key);
  if (found != borrowed_.end()) found->second.pulled = context.clock().now();
  if (found == borrowed_.end() || !found->second.incoming) {
    auto whole = memory_->load(pull.key);
    if (!whole) return pass(whole);
    return chunk_of(*whole, range);
  }
  const IncomingObject& incoming = *found->second.incoming;
  if (incoming.has(range)) return chunk_of(incoming.frame(), range);
  if (found->second.parked.size() >= kMostParked) {
    return fail(Code::kOverloaded, "too many wait for bytes of this object");
  }
  found->second.parked.push_back({range, std::move(asker)});
  return ObjectChunk{};
}

void ObjectStore::answer_parked(Borrowed& object) {
  const auto waits = std::stable_partition(
      object.parked.begin(), object.parked.end(),
      [&](const Parked& parked) { return object.incoming->has(parked.range); });
  for (auto ready = object.parked.begin(); ready != waits; ++ready) {
    if (ready->asker != nullptr) {
      ready->asker->answer(chunk_of(object.incoming->frame(), ready->range));
    }
  }
  object.parked.erase(object.parked.begin(), waits);
}

Status ObjectStore::on(const Down& down, Context& context) {
  if (holders_.erase(down.actor) > 0) {
    std::vector<ObjectKey> held;
    for (auto& [number, object] : owned_) {
      object.holders.remove(down.actor);
      if (object.holders.empty()) held.push_back({options_.process, number});
    }
    for (const ObjectKey& key : held) end_if_unused(key);
  }
  if (owners_.erase(down.actor) > 0) {
    const std::string why = down.crash ? ": " + down.crash->message : "";
    for (auto& [key, object] : borrowed_) {
      if (object.owner.id() != down.actor) continue;
      lose(object,
           {Code::kUnavailable, "the owner of the object cannot be reached any more" + why});
    }
    begin_queued(context);
  }
  return {};
}

}  // namespace forebay
