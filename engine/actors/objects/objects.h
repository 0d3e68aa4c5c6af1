#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <forebay/object.h>

#include "core/runtime/actor_host.h"
#include "core/runtime/synchronized.h"
#include "engine/actors/objects/object_memory.h"
#include "engine/actors/objects/object_store.h"
#include "engine/actors/objects/sent_object.h"

namespace forebay {

/// The objects of one process as users see them: makes them, and makes references of those that
/// come in messages.
///
/// Owns their bytes together with the references, and starts the ObjectStore when it is needed
/// first. `host` outlives this object; references may outlive both. Thread-safe.
class Objects final : public actors::ObjectSpace {
 public:
  struct Options {
    actors::ObjectLimits limits = {};
    ObjectStore::Options store = {};
  };

  Objects(ActorHost& host, Options options)
      : host_(host),
        options_(std::move(options)),
        memory_(std::make_shared<ObjectMemory>(options_.limits)) {}

  Result<actors::ObjectPtr> put_frame(const Frame& bytes);
  /// Returns an object of a large message's bytes, to put into the message. While an object of the
  /// same bytes exists, returns that one, so that a value told to many actors is one object.
  Result<SentObject> put_large(const Frame& bytes);
  /// The number of this process once it has made a large message, else 0.
  std::uint64_t sender() const { return sends_large_ ? options_.store.process : 0; }
  actors::Result<actors::ObjectPtr> put(actors::ObjectBytes bytes) override;
  actors::Result<actors::ObjectPtr> put(const actors::Box& value) override;

  /// A reference to an object that has come in a message.
  actors::ObjectPtr take(const SentObject& object);
  /// Starts the store if there is none.
  ObjectStore::Ref store();
  ObjectMemory& memory() { return *memory_; }

 private:
  SentObject describe(const Frame& bytes);
  Result<actors::ObjectPtr> own(SentObject object, const Frame& bytes);

  struct Started {
    std::optional<ObjectStore::Ref> store;
    std::uint64_t last_object = 0;
  };

  ActorHost& host_;
  const Options options_;
  const std::shared_ptr<ObjectMemory> memory_;
  Synchronized<Started> started_;
  std::atomic<bool> sends_large_{false};
};

/// Fetches the object's bytes; calls `arrived` once. `object` must be one that Objects has made.
void fetch(const actors::ObjectPtr& object, ObjectArrived arrived);

/// A reference as it goes into a message. `target` must be one that Objects has made.
SentObject sent(const actors::ObjectPtr& target);

}  // namespace forebay
