#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Names an actor for its life and after; never used again by its host. 0 is nobody.
enum class ActorId : std::uint64_t { kNobody = 0 };

/// What actors tell each other: a value that says its wire tag, "folder.message/version".
/// Between actors of one process it is moved, never encoded, and may be move-only. One that
/// can also travel lists its fields: `static auto fields(auto& self) { return std::tie(…); }`.
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

/// What an actor answers to an `M`: its `using Reply = …`, or nothing but a Status.
template <class M>
using ReplyOf = typename ReplyOfMessage<M>::Type;

/// The bytes a message counts for in a mailbox. Overload it beside a message that owns more
/// than it is: `std::size_t bytes_of(const Offer& offer) { return sizeof(offer) + …; }`.
template <class M>
std::size_t bytes_of(const M&) {
  return sizeof(M);
}

/// Where the answer to one message goes. An answer that is never given is kUnavailable.
template <class R>
class Replier {
 public:
  virtual ~Replier() = default;
  virtual void answer(Result<R> result) = 0;
};

}  // namespace forebay
