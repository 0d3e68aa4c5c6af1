#include "engine/actors/objects/objects.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/crc32c.h"
#include "engine/actors/user_message.h"

namespace forebay {
namespace {

constexpr std::size_t kStoreMailbox = std::size_t{1} << 40;

/// Tells the store when it begins and when it ends.
class HeldObject final : public actors::ObjectTarget {
 public:
  HeldObject(const SentObject& object, ObjectStore::Ref store, std::shared_ptr<ObjectMemory> memory,
             std::optional<Frame> bytes = {})
      : object_{object.info, object.owner, object.store, nullptr},
        store_(std::move(store)),
        memory_(std::move(memory)) {
    deliver(*store_.receiver(), TrackObject{object, std::move(bytes)});
  }
  ~HeldObject() override { deliver(*store_.receiver(), DropObject{object_.info.key}); }
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;

  std::uint64_t size() const override { return object_.info.size; }

  void get(Done done) override {
    fetch([done = std::move(done)](const Result<Frame>& frame) {
      if (!frame) return done(shown(frame.error()));
      done(actors::ObjectBytes{frame->keeper(), {frame->data(), frame->size()}});
    });
  }

  void fetch(ObjectArrived arrived) const {
    if (auto here = memory_->resident(object_.info.key)) return arrived(std::move(*here));
    deliver(*store_.receiver(), FetchObject{object_.info.key, std::move(arrived)});
  }

  actors::Result<actors::Box> open(const actors::ObjectBytes& bytes,
                                   const actors::ValueType* type) const override {
    NoActors none;
    auto value = unpack({.number = type->number,
                         .bytes = {bytes.bytes.begin(), bytes.bytes.end()},
                         .actors = {},
                         .objects = {}},
                        type, none);
    if (!value) return shown(value.error());
    return std::move(*value);
  }

  std::array<std::uint64_t, 2> id() const override {
    return {object_.info.key.process, object_.info.key.number};
  }

  const SentObject& object() const { return object_; }
  ActorHost& host() const { return store_.receiver()->host(); }

 private:
  const SentObject object_;  // without `keep`
  const ObjectStore::Ref store_;
  const std::shared_ptr<ObjectMemory> memory_;
};

/// Keeps a reference of this process.
class KeptReference final : public ObjectKeep {
 public:
  explicit KeptReference(std::shared_ptr<const HeldObject> held)
      : ObjectKeep(held->host()), held_(std::move(held)) {}

 private:
  const std::shared_ptr<const HeldObject> held_;
};

}  // namespace

ObjectStore::Ref Objects::store() {
  return started_.change([this](Started& started) {
    if (!started.store) {
      started.store = host_.spawn(
          {.name = "objects", .mailbox_bytes = kStoreMailbox, .placement = Placement::kOwnThread},
          [options = options_.store, memory = memory_] {
            return std::make_unique<ObjectStore>(options, memory);
          });
    }
    return *started.store;
  });
}

SentObject Objects::describe(const Frame& bytes) {
  const bool listens = !options_.store.address.empty();
  SentObject object;
  object.info.key.process = options_.store.process;
  object.info.size = bytes.size();
  object.info.digest = crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  object.owner = options_.store.address;
  if (!listens) object.store = ObjectStoreRef(store());
  return object;
}

Result<actors::ObjectPtr> Objects::own(SentObject object, const Frame& bytes) {
  auto counted = memory_->count(bytes);
  if (!counted) return pass(counted);
  object.info.key.number = started_.change([](Started& started) { return ++started.last_object; });
  memory_->add(object.info, std::move(*counted));
  return actors::ObjectPtr(std::make_shared<HeldObject>(object, store(), memory_));
}

Result<actors::ObjectPtr> Objects::put_frame(const Frame& bytes) {
  return own(describe(bytes), bytes);
}

Result<SentObject> Objects::put_large(const Frame& bytes) {
  SentObject object = describe(bytes);
  const auto like = memory_->find_like(object.info);
  const bool is_same = like && std::memcmp(like->second.data(), bytes.data(), bytes.size()) == 0;
  Result<actors::ObjectPtr> put;
  if (is_same) {
    object.info.key = like->first;
    put = std::make_shared<HeldObject>(object, store(), memory_, like->second);
  } else {
    put = own(std::move(object), bytes);
  }
  if (!put) return pass(put);
  sends_large_ = true;
  return sent(*put);
}

actors::Result<actors::ObjectPtr> Objects::put(actors::ObjectBytes bytes) {
  auto put = put_frame({std::move(bytes.keeper), bytes.bytes.data(), bytes.bytes.size()});
  if (!put) return shown(put.error());
  return std::move(*put);
}

actors::Result<actors::ObjectPtr> Objects::put(const actors::Box& value) {
  auto packed = pack(value);
  if (!packed) return shown(packed.error());
  if (!packed->actors.empty() || !packed->objects.empty()) {
    return actors::Error{actors::Code::kInvalid,
                         "an object must not hold references; send them beside it"};
  }
  const auto held = std::make_shared<const std::vector<std::byte>>(std::move(packed->bytes));
  return put(actors::ObjectBytes{held, *held});
}

actors::ObjectPtr Objects::take(const SentObject& object) {
  return std::make_shared<HeldObject>(object, store(), memory_);
}

void fetch(const actors::ObjectPtr& object, ObjectArrived arrived) {
  const auto held = std::dynamic_pointer_cast<const HeldObject>(object);
  if (held == nullptr) return arrived(fail(Code::kInvalid, "it is no object of Forebay's"));
  held->fetch(std::move(arrived));
}

SentObject sent(const actors::ObjectPtr& target) {
  auto held = std::dynamic_pointer_cast<const HeldObject>(target);
  if (held == nullptr) return {};
  SentObject object = held->object();
  object.keep = std::make_shared<const KeptReference>(std::move(held));
  return object;
}

}  // namespace forebay
