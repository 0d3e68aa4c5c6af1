#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/base/deadline.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/executor/executor.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

/// Settles one question exactly once: with the actor's answer, or with kTimeout at the deadline,
/// whichever comes first. After kTimeout the request may still have been carried out. Shared by the
/// timer and the replier. Thread-safe.
template <class R>
class Question {
 public:
  using Deliver = std::function<void(Result<R>)>;

  Question(TimerQueue& timers, Deliver deliver) : timers_(timers), deliver_(std::move(deliver)) {}

  void settle(Result<R> result) {
    std::optional<TimerQueue::Key> timer;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(settled_, true)) return;
      timer = timer_;
    }
    if (timer) timers_.cancel(*timer);
    deliver_(std::move(result));
  }

  static void expire_at(const std::shared_ptr<Question>& question, TimerQueue::Time deadline) {
    const std::lock_guard lock(question->mutex_);
    if (question->settled_) return;
    question->timer_ = question->timers_.add(deadline, [question] {
      question->settle(fail(Code::kTimeout, "no answer in time; it may or may not have happened"));
    });
  }

 private:
  TimerQueue& timers_;
  const Deliver deliver_;
  std::mutex mutex_;
  std::optional<TimerQueue::Key> timer_;  // under mutex_
  bool settled_ = false;                  // under mutex_
};

/// Asks, and calls `deliver` once with the result, on the thread that settles the question.
template <Message M, class... Ms>
void ask_and_deliver(const ActorRef<Ms...>& actor, M&& message, std::chrono::nanoseconds timeout,
                     typename Question<ReplyOf<M>>::Deliver deliver) {
  using R = ReplyOf<M>;
  if (actor.receiver() == nullptr) return deliver(fail(Code::kNotFound, "no actor is named"));
  ActorHost& host = actor.receiver()->host();
  auto question = std::make_shared<Question<R>>(host.timers(), std::move(deliver));
  auto replier = reply_to<R>([question](Result<R> result) { question->settle(std::move(result)); });
  EnvelopePtr envelope = seal(std::forward<M>(message), std::move(replier));
  const TimerQueue::Time deadline = deadline_after(host.clock().now(), timeout);
  Status status = actor.receiver()->push(envelope, MailboxCredit::kRequired);
  if (!status) return question->settle(pass(status));
  Question<R>::expire_at(question, deadline);
}

/// Asks without a deadline, and calls `deliver` once with the result: the actor's answer, or an
/// error if it refuses the message, crashes or ends. For an actor of this process that is known to
/// answer or to end.
template <Message M, class... Ms>
void ask_and_deliver(const ActorRef<Ms...>& actor, M&& message,
                     typename Question<ReplyOf<M>>::Deliver deliver) {
  if (actor.receiver() == nullptr) return deliver(fail(Code::kNotFound, "no actor is named"));
  EnvelopePtr envelope = seal(std::forward<M>(message), reply_to<ReplyOf<M>>(std::move(deliver)));
  const Status status = actor.receiver()->push(envelope, MailboxCredit::kRequired);
  if (!status) envelope->type->refuse(*envelope, status.error());
}

/// Whether the calling thread may do a WaitingWork: a shared thread would hold up the actors that
/// it wakes meanwhile.
inline bool can_help_while_waiting() { return !SharedExecutor::is_on_thread(); }

/// A pending answer, for a thread that is not an actor's.
template <class R>
class Answer {
 public:
  /// `work`: what the waiting thread can do meanwhile; null: nothing.
  explicit Answer(std::shared_ptr<WaitingWork> work = nullptr) : waiting_work_(std::move(work)) {}

  /// Blocks until the answer or the timeout arrives. Call it once.
  Result<R> wait() {
    if (waiting_work_ != nullptr && can_help_while_waiting()) {
      waiting_work_->help_until([this] { return ready(); });
    }
    return result_.get();
  }

  /// Returns a function that sets the result; it remains valid after this object is destroyed. Call
  /// it once.
  typename Question<R>::Deliver filler() {
    auto promise = std::make_shared<std::promise<Result<R>>>();
    result_ = promise->get_future();
    return [promise, work = waiting_work_](Result<R> result) {
      promise->set_value(std::move(result));
      if (work != nullptr) work->look_again();
    };
  }

  /// Waits for the answer, at most for so long; returns whether it is there.
  bool ready(std::chrono::nanoseconds at_most = {}) const {
    return result_.wait_for(at_most) == std::future_status::ready;
  }

 private:
  std::shared_ptr<WaitingWork> waiting_work_;
  std::future<Result<R>> result_;
};

/// Asks from a thread that is not an actor's. The actor system must live until the answer arrives.
template <Message M, class... Ms>
requires OneOf<M, Ms...> Answer<ReplyOf<M>> ask(const ActorRef<Ms...>& actor, M&& message,
                                                std::chrono::nanoseconds timeout) {
  Answer<ReplyOf<M>> answer(actor.receiver() == nullptr ? nullptr
                                                        : actor.receiver()->waiting_work());
  ask_and_deliver(actor, std::forward<M>(message), timeout, answer.filler());
  return answer;
}

/// The same without a deadline.
template <Message M, class... Ms>
requires OneOf<M, Ms...> Answer<ReplyOf<M>> ask(const ActorRef<Ms...>& actor, M&& message) {
  Answer<ReplyOf<M>> answer;
  ask_and_deliver(actor, std::forward<M>(message), answer.filler());
  return answer;
}

}  // namespace forebay
