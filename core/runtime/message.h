#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Identifies an actor; its host never uses the id again, even after the actor's death. 0 is no
/// actor.
enum class ActorId : std::uint64_t { kNobody = 0 };

/// A message between actors: a value with a wire tag, "folder.message/version". Within a process it
/// is moved, never encoded, and may be move-only. A message that can also be sent to another
/// process lists its fields: `static auto fields(auto& self) { return std::tie(…); }`.
template <class M>
concept Message = std::movable<M> && requires {
  { M::kTag } -> std::convertible_to<std::string_view>;
};

template <class M>
struct ReplyOfMessage {
  using Type = void;
};

template <class M>
requires requires { typename M::Reply; }
struct ReplyOfMessage<M> {
  using Type = typename M::Reply;
};

/// The type of an actor's answer to an M: its `using Reply = …`, else void (only a Status).
template <class M>
using ReplyOf = typename ReplyOfMessage<M>::Type;

/// The bytes a message counts for in a mailbox. Overload it beside a message that owns memory
/// outside itself: `std::size_t bytes_of(const Offer& offer) { return sizeof(offer) + …; }`.
template <class M>
std::size_t bytes_of(const M&) {
  return sizeof(M);
}

/// Receives the answer to one message. If it is destroyed without an answer, the asker gets
/// kUnavailable.
template <class R>
class Replier {
 public:
  virtual ~Replier() = default;
  virtual void answer(Result<R> result) = 0;
};

}  // namespace forebay
