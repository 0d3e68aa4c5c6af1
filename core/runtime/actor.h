#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/runtime/actor_ref.h"
#include "core/runtime/ask.h"
#include "core/runtime/cell.h"

namespace forebay {

/// Runtime → actor: what came of its `ask(M)`.
template <Message M>
struct Answered {
  static constexpr std::string_view kTag = "runtime.answered/1";
  std::uint64_t token = 0;  ///< As given to `ask`.
  Result<ReplyOf<M>> result;
};

/// What a handler may do beside changing its own state. Lives for one call.
class Context {
 public:
  Context(Cell& cell, ActorId sender) : cell_(cell), sender_(sender) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ActorId self() const { return cell_.id(); }
  ActorId sender() const { return sender_; }
  const Clock& clock() const { return cell_.host().clock(); }

  /// Like `ref.tell`, in this actor's name.
  template <Message M, class... Ms>
  Status tell(const ActorRef<Ms...>& ref, M&& message) const {
    return ref.tell(std::forward<M>(message), cell_.id());
  }

  /// Asks; the answer, a refusal or kTimeout comes to `reply_to` as one Answered<M>.
  template <Message M, class... Ms>
  requires OneOf<M, Ms...>
  void ask(const ActorRef<Ms...>& ref, M&& message, std::chrono::nanoseconds timeout,
           const std::type_identity_t<ActorRef<Answered<M>>>& reply_to,
           std::uint64_t token = 0) const {
    auto deliver = [reply_to, token](Result<ReplyOf<M>> result) {
      EnvelopePtr envelope = seal(Answered<M>{token, std::move(result)}, ActorId::kNobody);
      static_cast<void>(
          reply_to.receiver()->push(envelope, MailboxCredit::kExempt));  // It may be dead by now.
    };
    ask_and_deliver(ref, std::forward<M>(message), timeout, cell_.id(), std::move(deliver));
  }

  /// Tells this actor `message` when `delay` is over, if it lives by then; its mailbox takes it
  /// even when full. The actor has a handler for an M.
  template <Message M>
  void after(std::chrono::nanoseconds delay, M&& message) const {
    cell_.push_after(delay, seal(std::forward<M>(message), cell_.id()));
  }

  /// Ends this actor in good order after the message it handles; what is queued is refused.
  void stop() const { cell_.end_after_message(); }

 private:
  template <class Self, class... Ms>
  friend class ActorOf;

  Cell& cell_;
  const ActorId sender_;
};

/// An actor as its cell sees it; derive from ActorOf.
class Actor {
 public:
  virtual ~Actor() = default;

  /// Handles one message. An error is one that nobody who asked was told.
  virtual Status receive(Envelope& envelope, Context& context) = 0;
};

/// An actor that understands `Ms`: plain state with one handler for each,
/// `Status on(const M&, Context&)` or `Status on(M&&, Context&)`, and `Result<M::Reply>` for an M
/// that has a Reply. What a handler returns is the answer to whoever asked.
///
/// Runs one message at a time and needs no lock. Made by its factory on the thread that handles
/// its first message.
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
  /// This actor's own ref, to hand out or to be answered at.
  static Ref self(const Context& context) { return Ref(context.cell_.shared_from_this()); }

 private:
  template <Message M>
  void dispatch(EnvelopeOf<M>& envelope, Context& context, Status& unheard) {
    Result<ReplyOf<M>> result = static_cast<Self*>(this)->on(std::move(envelope.message), context);
    if (envelope.replier != nullptr) {
      std::exchange(envelope.replier, nullptr)->answer(std::move(result));
    } else if (!result) {
      unheard = pass(result);
    }
  }
};

}  // namespace forebay
