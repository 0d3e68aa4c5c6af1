#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

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

/// A Replier that passes the result to `then`, on the thread that answers or destroys it.
template <class R, class Then>
class ReplyTo final : public Replier<R> {
 public:
  explicit ReplyTo(Then then) : then_(std::move(then)) {}
  ~ReplyTo() override {
    if (!answered_) then_(fail(Code::kUnavailable, "the actor ended before it answered"));
  }
  ReplyTo(const ReplyTo&) = delete;
  ReplyTo& operator=(const ReplyTo&) = delete;

  void answer(Result<R> result) override {
    answered_ = true;
    then_(std::move(result));
  }

 private:
  Then then_;
  bool answered_ = false;
};

template <class R, class Then>
std::unique_ptr<Replier<R>> reply_to(Then then) {
  return std::make_unique<ReplyTo<R, Then>>(std::move(then));
}

}  // namespace forebay
