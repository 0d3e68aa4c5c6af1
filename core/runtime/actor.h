#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/runtime/actor_ref.h"
#include "core/runtime/ask.h"
#include "core/runtime/cell.h"

namespace forebay {

/// Runtime → actor: the result of its `ask(M)`.
template <Message M>
struct Answered {
  static constexpr std::string_view kTag = "runtime.answered/1";
  std::uint64_t token = 0;  ///< As given to `ask`.
  Result<ReplyOf<M>> result;
};

/// The actions a handler can take besides changing its actor's state. Valid during one call.
class Context {
 public:
  explicit Context(Cell& cell) : cell_(cell) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ActorId self() const { return cell_.id(); }
  const Clock& clock() const { return cell_.host().clock(); }

  /// Like `ref.tell`.
  template <Message M, class... Ms>
  Status tell(const ActorRef<Ms...>& ref, M&& message) const {
    return ref.tell(std::forward<M>(message));
  }

  /// Asks; `reply_to` receives one Answered<M> with the answer, the refusal or kTimeout.
  template <Message M, class... Ms>
  requires OneOf<M, Ms...>
  void ask(const ActorRef<Ms...>& ref, M&& message, std::chrono::nanoseconds timeout,
           const std::type_identity_t<ActorRef<Answered<M>>>& reply_to,
           std::uint64_t token = 0) const {
    ask_and_deliver(ref, std::forward<M>(message), timeout,
                    [reply_to, token](Result<ReplyOf<M>> result) {
                      deliver(*reply_to.receiver(), Answered<M>{token, std::move(result)});
                    });
  }

  /// Sends `message` to this actor after `delay`, if it still lives. The mailbox accepts it even
  /// when full. The actor must have a handler for M.
  template <Message M>
  void after(std::chrono::nanoseconds delay, M&& message) const {
    cell_.push_after(delay, seal(std::forward<M>(message)));
  }

  /// Ends this actor in an orderly way after the current message; queued messages are refused.
  void stop() const { cell_.end_after_message(); }

 private:
  template <class Self, class... Ms>
  friend class ActorOf;

  Cell& cell_;
};

/// The interface of an actor to its cell; derive from ActorOf.
class Actor {
 public:
  virtual ~Actor() = default;

  /// Handles one message. Returns an error only if no asker is waiting for it.
  virtual Status receive(Envelope& envelope, Context& context) = 0;
};

/// An actor that handles `Ms`: plain state with one handler for each M:
/// `Status on(const M&, Context&)` or `Status on(M&&, Context&)`; with a `Result<M::Reply>` for an
/// M that has a Reply. The runtime sends a handler's result to the asker. A handler
/// `on(M&&, std::unique_ptr<Replier<R>>&, Context&)` may take the replier and answer later.
///
/// Handles one message at a time and needs no lock. Its factory creates it on the thread that
/// handles its first message.
template <class Self, class... Ms>
class ActorOf : public Actor {
 public:
  using Ref = ActorRef<Ms...>;

  Status receive(Envelope& envelope, Context& context) final {
    Status status;
    const bool known =
        ((envelope.type == kTypeOf<Ms> &&
          (dispatch(static_cast<EnvelopeOf<Ms>&>(envelope), context, status), true)) ||
         ...);
    if (known) return status;
    return fail(Code::kInvalid, "the actor has no handler for " + std::string(envelope.type->tag));
  }

 protected:
  /// This actor's own ref, to pass to others or to receive answers.
  static Ref self(const Context& context) { return Ref(context.cell_.shared_from_this()); }

 private:
  template <Message M>
  void dispatch(EnvelopeOf<M>& envelope, Context& context, Status& unheard) {
    Result<ReplyOf<M>> result = call(envelope, context);
    if (envelope.replier != nullptr) {
      std::exchange(envelope.replier, nullptr)->answer(std::move(result));
    } else if (!result) {
      unheard = pass(result);
    }
  }

  template <Message M>
  Result<ReplyOf<M>> call(EnvelopeOf<M>& envelope, Context& context) {
    auto& self = static_cast<Self&>(*this);
    if constexpr (requires { self.on(std::move(envelope.message), envelope.replier, context); }) {
      return self.on(std::move(envelope.message), envelope.replier, context);
    } else {
      return self.on(std::move(envelope.message), context);
    }
  }
};

}  // namespace forebay
