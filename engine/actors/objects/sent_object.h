#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "core/runtime/actor_host.h"
#include "core/runtime/actor_ref.h"
#include "engine/actors/objects/object_info.h"
#include "engine/actors/objects/object_messages.h"

namespace forebay {

/// Keeps an object alive while a reference to it is on its way.
class ObjectKeep {
 public:
  explicit ObjectKeep(ActorHost& host) : host_(host) {}
  virtual ~ObjectKeep() = default;
  ObjectKeep(const ObjectKeep&) = delete;
  ObjectKeep& operator=(const ObjectKeep&) = delete;

  /// Of this process.
  ActorHost& host() const { return host_; }

 private:
  ActorHost& host_;
};

using ObjectKeepPtr = std::shared_ptr<const ObjectKeep>;

/// A reference to an object in a message.
///
/// To another process it travels with a *loan*: the sender keeps the object until the receiver
/// returns the loan, since it is registered with the owner or has dropped the message, or until the
/// session ends.
struct SentObject {
  ObjectInfo info;
  std::string owner = {};     ///< The address of the owner; empty: it does not listen.
  ObjectStoreRef store = {};  ///< Then the way to it.
  ObjectKeepPtr keep = {};
};

/// What a sender lends to one session: a receiver that keeps `keep` until the peer stops it.
AnyActor lend(const ObjectKeepPtr& keep);
/// Returns the loan when it goes. Null for an actor of this process, which no peer can lend.
ObjectKeepPtr borrow(const ActorRef<>& loan);

template <>
struct WireField<SentObject> {
  static void write(Encoder& encoder, const SentObject& object) {
    const AnyActor loan = lend(object.keep);
    write_fields(encoder, std::tie(object.info, object.owner, object.store, loan));
  }
  static bool read(Decoder& decoder, SentObject& object) {
    ActorRef<> loan;
    if (!read_fields(decoder, std::tie(object.info, object.owner, object.store, loan))) {
      return false;
    }
    object.keep = borrow(loan);
    return true;
  }
};

}  // namespace forebay
