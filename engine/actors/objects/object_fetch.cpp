#include "engine/actors/objects/object_store.h"

// The borrower's part of ObjectStore: its registration with the owner, and the bytes.

namespace forebay {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kRetry(20);
/// For an answer of the owner, which may be reading its disk.
constexpr std::chrono::seconds kOwnerPatience(30);
/// For bytes: those that a source is receiving itself may be long on their way.
constexpr std::chrono::seconds kChunkPatience(60);
/// Fetched at a time; what is on its way for them fits into the outbox of one peer.
constexpr std::size_t kMostFetches = 64;
/// Without references, an object stays so long after another process has asked for bytes of it.
constexpr std::chrono::nanoseconds kLinger = 1s;
/// For a session with a source other than the owner.
constexpr std::chrono::seconds kSourcePatience(3);

Error of_owner(const Error& error) {
  return {error.code, "the owner of the object: " + error.message};
}

}  // namespace

std::uint64_t ObjectStore::next_token(Borrowed& object) {
  asked_.erase(object.token);
  object.token = ++last_token_;
  asked_[object.token] = {object.object.info.key, object.owner};
  return object.token;
}

ObjectStore::Borrowed* ObjectStore::answered(std::uint64_t token) {
  const auto asked = asked_.find(token);
  if (asked == asked_.end()) return nullptr;
  const auto found = borrowed_.find(asked->second.key);
  return found == borrowed_.end() || found->second.token != token ? nullptr : &found->second;
}

Result<ObjectStoreRef> ObjectStore::reach(const std::string& address) {
  if (!options_.find) return fail(Code::kInvalid, "this process has no network");
  ObjectStoreRef there = options_.find(address);
  if (there.receiver() != nullptr) return there;
  const auto [known, is_first] = connected_.try_emplace(address);
  if (is_first) known->second = options_.connect(address);
  if (!known->second) return pass(known->second);
  return ObjectStoreRef();
}

void ObjectStore::retry_soon(const ObjectKey& key, Context& context) {
  retrying_.insert(key);
  if (!std::exchange(retries_soon_, true)) context.after(kRetry, RetryObjects{});
}

Status ObjectStore::on(const RetryObjects&, Context& context) {
  retries_soon_ = false;
  for (const ObjectKey& key : std::exchange(retrying_, {})) {
    const auto found = borrowed_.find(key);
    if (found == borrowed_.end()) continue;
    if (found->second.state == Borrowed::State::kFinding) find_owner(found->second, context);
    if (found->second.finds_source) find_source(found->second, context);
  }
  return {};
}

void ObjectStore::find_owner(Borrowed& object, Context& context) {
  const std::string& address = object.object.owner;
  auto owner = address.empty() ? object.object.store : reach(address);
  if (!owner) return lose(object, owner.error());
  if (owner->receiver() == nullptr) {
    if (!address.empty() && context.clock().now() < object.until) {
      return retry_soon(object.object.info.key, context);
    }
    return lose(object, {Code::kUnavailable, "the owner of the object does not answer" +
                                                 (address.empty() ? "" : " at " + address)});
  }
  object.owner = *owner;
  object.state = Borrowed::State::kAsking;
  if (owners_.emplace(owner->id(), *owner).second) watch(*owner, ActorRef<Down>(self(context)));
  context.ask(*owner, HoldObject{object.object.info.key, self(context), options_.address},
              kOwnerPatience, self(context), next_token(object));
}

Status ObjectStore::on(Answered<HoldObject>&& held, Context& context) {
  Borrowed* object = answered(held.token);
  const auto asked = asked_.extract(held.token);
  if (object == nullptr) {
    // The last reference went meanwhile.
    if (asked && held.result && !borrowed_.contains(asked.mapped().key)) {
      static_cast<void>(
          asked.mapped().owner.tell(ReleaseObject{asked.mapped().key, self(context)}));
    }
    return {};
  }
  if (!held.result) {
    lose(*object, {Code::kUnavailable, of_owner(held.result.error()).message});
    return {};
  }
  object->state = Borrowed::State::kHeld;
  object->object.keep.reset();
  if (!object->waiting.empty()) begin_fetch(*object, context);
  return {};
}

/// An object without references here goes, but not while other processes fetch it from this one:
/// they would have to ask the owner for another source.
void ObjectStore::let_go(const ObjectKey& key, Context& context) {
  const auto found = borrowed_.find(key);
  if (found == borrowed_.end() || found->second.references > 0) return;
  Borrowed& object = found->second;
  const Time left = object.pulled.value_or(-kLinger) + kLinger - context.clock().now();
  if (object.state == Borrowed::State::kHeld && !object.incoming && left > 0ns) {
    return context.after(left, LetGoObject{key});
  }
  release(key, object, context);
  borrowed_.erase(found);
  begin_queued(context);
}

Status ObjectStore::on(const LetGoObject& let_go_one, Context& context) {
  let_go(let_go_one.key, context);
  return {};
}

/// Makes room; returns whether there was something to release.
bool ObjectStore::let_all_go(Context& context) {
  const std::size_t before = borrowed_.size();
  for (auto at = borrowed_.begin(); at != borrowed_.end();) {
    const auto one = at++;
    if (one->second.references > 0) continue;
    release(one->first, one->second, context);
    borrowed_.erase(one);
  }
  return borrowed_.size() < before;
}

void ObjectStore::release(const ObjectKey& key, Borrowed& object, Context& context) {
  if (object.state == Borrowed::State::kHeld) {
    // If it cannot be sent, the end of the session releases the object.
    static_cast<void>(object.owner.tell(ReleaseObject{key, self(context)}));
  }
  if (object.state != Borrowed::State::kAsking) asked_.erase(object.token);
  end_fetch(object, fail(Code::kNotFound, "the last reference to the object has gone"));
  memory_->erase(key);
}

void ObjectStore::lose(Borrowed& object, const Error& why) {
  object.state = Borrowed::State::kLost;
  object.why = why;
  object.object.keep.reset();
  end_fetch(object, tl::unexpected<Error>(why));
}

Status ObjectStore::on(FetchObject&& fetch, Context& context) {
  auto here = memory_->load(fetch.key);
  const auto found = borrowed_.find(fetch.key);
  if (here || here.error().code != Code::kNotFound || found == borrowed_.end()) {
    fetch.arrived(std::move(here));
    return {};
  }
  Borrowed& object = found->second;
  if (object.state == Borrowed::State::kLost) {
    fetch.arrived(tl::unexpected<Error>(object.why));
    return {};
  }
  object.waiting.push_back(std::move(fetch.arrived));
  if (object.state == Borrowed::State::kHeld && !object.incoming) begin_fetch(object, context);
  return {};
}

void ObjectStore::begin_fetch(Borrowed& object, Context& context) {
  const ObjectInfo& info = object.object.info;
  if (fetching_ >= kMostFetches) return queued_.push_back(info.key);
  auto buffer = memory_->allocate(info.size);
  if (!buffer && let_all_go(context)) buffer = memory_->allocate(info.size);
  if (!buffer) return end_fetch(object, pass(buffer));
  ++fetching_;
  object.incoming.emplace(info, std::move(*buffer));
  if (info.size == 0) return arrived(object, context);
  object.source.clear();
  if (info.size > kObjectChunk) return locate(object, "", context);
  static_cast<void>(next_token(object));
  pull(object, object.owner, context);
}

void ObjectStore::begin_queued(Context& context) {
  while (fetching_ < kMostFetches && !queued_.empty()) {
    const auto found = borrowed_.find(queued_.front());
    queued_.pop_front();
    if (found == borrowed_.end() || found->second.incoming || found->second.waiting.empty()) {
      continue;
    }
    begin_fetch(found->second, context);
  }
}

void ObjectStore::locate(Borrowed& object, const std::string& failed, Context& context) {
  context.ask(object.owner, LocateObject{object.object.info.key, self(context), failed},
              kOwnerPatience, self(context), next_token(object));
}

Status ObjectStore::on(Answered<LocateObject>&& located, Context& context) {
  Borrowed* object = answered(located.token);
  if (object == nullptr || !object->incoming) return {};
  if (!located.result) {
    end_fetch(*object, tl::unexpected<Error>(of_owner(located.result.error())));
    begin_queued(context);
    return {};
  }
  object->source = std::move(*located.result);
  object->until = context.clock().now() + kSourcePatience;
  find_source(*object, context);
  return {};
}

void ObjectStore::find_source(Borrowed& object, Context& context) {
  object.finds_source = false;
  if (object.source.empty()) return pull(object, object.owner, context);
  const auto source = reach(object.source);
  if (!source) return source_failed(object, source.error(), context);
  if (source->receiver() != nullptr) return pull(object, *source, context);
  if (context.clock().now() >= object.until) {
    return source_failed(object, {Code::kUnavailable, "does not answer"}, context);
  }
  object.finds_source = true;
  retry_soon(object.object.info.key, context);
}

void ObjectStore::pull(Borrowed& object, const ObjectStoreRef& source, Context& context) {
  while (const auto range = object.incoming->next()) {
    context.ask(source, PullObject{object.object.info.key, range->offset, range->size},
                kChunkPatience, self(context), object.token);
  }
}

Status ObjectStore::on(Answered<PullObject>&& pulled, Context& context) {
  Borrowed* object = answered(pulled.token);
  if (object == nullptr || !object->incoming) return {};
  if (!pulled.result) {
    source_failed(*object, pulled.result.error(), context);
    begin_queued(context);
    return {};
  }
  Status taken = object->incoming->take(pulled.result->offset, pulled.result->bytes);
  if (!taken && object->incoming->is_complete()) {
    end_fetch(*object, tl::unexpected<Error>(taken.error()));
  } else if (!taken) {
    source_failed(*object, taken.error(), context);
  } else if (object->incoming->is_complete()) {
    arrived(*object, context);
  } else {
    answer_parked(*object);
    find_source(*object, context);
  }
  begin_queued(context);
  return {};
}

void ObjectStore::source_failed(Borrowed& object, const Error& why, Context& context) {
  if (object.source.empty()) return end_fetch(object, tl::unexpected<Error>(of_owner(why)));
  object.incoming->ask_again();
  locate(object, object.source, context);
}

void ObjectStore::arrived(Borrowed& object, Context& context) {
  const ObjectInfo& info = object.object.info;
  const Frame frame = object.incoming->frame();
  memory_->add(info, frame);
  answer_parked(object);
  if (info.size > kObjectChunk) {
    static_cast<void>(object.owner.tell(ObjectFetched{info.key, self(context)}));
  }
  end_fetch(object, frame);
}

void ObjectStore::end_fetch(Borrowed& object, const Result<Frame>& result) {
  if (object.incoming) {
    asked_.erase(object.token);
    --fetching_;
  }
  object.incoming.reset();
  object.finds_source = false;
  for (Parked& parked : std::exchange(object.parked, {})) {
    if (parked.asker != nullptr) {
      parked.asker->answer(fail(Code::kUnavailable, "the source has lost the object"));
    }
  }
  for (const ObjectArrived& arrived : std::exchange(object.waiting, {})) arrived(result);
}

}  // namespace forebay
