#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include <forebay/object.h>

#include "core/base/result.h"
#include "core/runtime/actor_ref.h"
#include "core/wire/frame.h"
#include "engine/actors/user_message.h"

namespace forebay {

class HeldMessages;

/// Object store → hosted actor: the bytes of a message that is held here have come, or cannot. From
/// the actor to itself, without a number: the next held message may be handled.
struct HeldReady {
  static constexpr std::string_view kTag = "actors.held_ready/1";
  std::shared_ptr<HeldMessages> held;
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
  Result<Frame> bytes;
};

/// Messages of one actor that wait for their bytes, or behind such a message of the same process.
///
/// So that it outlives a crash of its actor, it belongs to what will wake the actor: the fetches
/// that run, and the HeldReady in the mailbox. When the actor has ended they go, and this object
/// with them; then askers get kUnavailable. Used on the actor's turns only.
class HeldMessages final : public std::enable_shared_from_this<HeldMessages> {
 public:
  using Asker = std::unique_ptr<Replier<UserValue>>;
  struct Ready {
    UserMessage message;
    Asker asker;
    Status bytes;  ///< Or why they cannot be here.
  };

  /// At most `limit` bytes of messages, or one message of any size; large ones count by what is
  /// beside their bytes.
  explicit HeldMessages(std::size_t limit) : limit_(limit) {}

  /// Whether a message of this process waits.
  bool has(std::uint64_t sender) const { return queues_.contains(sender); }
  /// Takes a packed message and begins to fetch its bytes, or leaves it: kOverloaded.
  Status add(UserMessage& message, Asker& asker, ActorFinder& finder, const ReceiverPtr& actor);
  /// Takes the bytes.
  void take(HeldReady& ready, std::chrono::nanoseconds now);
  /// The next message of this process if it can be handled now. Sees to it that the actor hears of
  /// those behind it.
  std::optional<Ready> next(std::uint64_t sender, const ReceiverPtr& actor);

 private:
  struct Held {
    Ready ready;
    std::uint64_t number = 0;
    actors::ObjectPtr object = nullptr;  ///< Of a large message.
    std::chrono::nanoseconds until{0};   ///< It waits for room so long.
    bool is_coming = false;
    bool again = false;           ///< There was no room.
    bool has_been_first = false;  ///< When there was none.
  };

  void begin_fetch(Held& held, const ReceiverPtr& actor, std::chrono::nanoseconds delay);

  const std::size_t limit_;
  std::map<std::uint64_t, std::deque<Held>> queues_;  // by sender; none is empty
  std::size_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace forebay
