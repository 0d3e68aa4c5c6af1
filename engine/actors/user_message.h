#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <forebay/actor.h>

#include "core/base/check.h"
#include "core/base/result.h"
#include "core/runtime/actor_ref.h"
#include "core/wire/codec.h"
#include "engine/actors/objects/sent_object.h"

namespace forebay {

class Objects;

/// To another process, so many packed bytes travel as an object.
inline constexpr std::size_t kLargeValue = std::size_t{1} << 20;

/// A user's value as bytes: what travels, and what one binary hands to another in a process.
struct PackedValue {
  std::uint64_t number = 0;  ///< Of its tag.
  std::vector<std::byte> bytes;
  std::vector<AnyActor> actors;          ///< The bytes name them by their index here.
  std::vector<SentObject> objects = {};  ///< In the same way.
  std::optional<SentObject> large =
      {};  ///< Has the bytes, if they are many; `bytes` is empty then.
  /// The process that packed it, or 0 if it had sent nothing large before. What an actor gets from
  /// one process stays in order, though the bytes of some of it come later.
  std::uint64_t sender = 0;
  std::optional<Frame> fetched = {};  ///< The bytes of `large`, once they are here; not sent.
  static auto fields(auto& self) {
    return std::tie(self.number, self.bytes, self.actors, self.objects, self.large, self.sender);
  }
};

/// A user's value, typed or packed. Received ones are packed until their actor's turn.
struct UserValue {
  std::unique_ptr<PackedValue> packed = nullptr;  ///< Then the box is empty.
  actors::Box box = {};
};

/// The one message that actors of users handle. Its tag is that of no user's message.
struct UserMessage {
  static constexpr std::string_view kTag = "actors.message/1";
  using Reply = UserValue;
  UserValue value;
  static auto fields(auto& self) { return std::tie(self.value); }
};

using UserRef = ActorRef<UserMessage>;

/// Instead of a message's number: end the actor. Other than the runtime's stop it stays behind what
/// the same process has sent before.
inline constexpr std::uint64_t kStopNumber = tag_number("forebay/stop");

std::size_t bytes_of(const UserMessage& message);

/// Makes the public references to actors and objects that a packed value names.
class ActorFinder {
 public:
  virtual ~ActorFinder() = default;
  virtual actors::TargetPtr target_of(const ReceiverPtr& receiver) = 0;
  virtual actors::ObjectPtr object_of(const SentObject& object) = 0;
};

/// For values without references.
class NoActors final : public ActorFinder {
 public:
  actors::TargetPtr target_of(const ReceiverPtr&) override { return nullptr; }
  actors::ObjectPtr object_of(const SentObject&) override { return nullptr; }
};

/// kInvalid: a field is larger than 4 GiB, or has more elements than 2^32 - 1.
Result<PackedValue> pack(const actors::Box& box);

/// For another process: a large value becomes an object. kOverloaded: the objects here leave no
/// room for it; kInvalid: it is larger than all of them may be, or a field is larger than 4 GiB.
Result<PackedValue> pack_to_send(const actors::Box& box, Objects& objects);

/// kCorrupt: the bytes are no `type`. Names the message by its tag.
Result<actors::Box> unpack(const PackedValue& packed, const actors::ValueType* type,
                           ActorFinder& finder);

/// The value as a `type`: taken from the box, or unpacked, or, of another binary's type of that
/// number, packed and unpacked.
Result<actors::Box> open_value(UserValue&& value, const actors::ValueType* type,
                               ActorFinder& finder);

/// The number of the value's tag.
std::uint64_t number_of(const UserValue& value);

actors::Error shown(const Error& error);
Error internal(const actors::Error& error);

template <>
struct WireField<UserValue> {
  static void write(Encoder& encoder, const UserValue& value) {
    if (value.packed != nullptr) return write_field(encoder, *value.packed);
    const auto packed = pack(value.box);
    FOREBAY_CHECK(packed);  // Messages to other processes are packed before (pack_to_send).
    write_field(encoder, *packed);
  }
  static bool read(Decoder& decoder, UserValue& value) {
    value.packed = std::make_unique<PackedValue>();
    return read_field(decoder, *value.packed);
  }
};

}  // namespace forebay
