#include "engine/actors/hosted_actor.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <variant>

#include "core/runtime/supervisor.h"

namespace forebay {

namespace {

/// An answer, packed if its question was: then the asker is in another process.
Result<UserValue> answer_of(UserHost& host, actors::Box answer, bool is_packed) {
  if (!is_packed) return UserValue{.box = std::move(answer)};
  auto packed = pack_to_send(answer, host.objects());
  if (!packed) return pass(packed);
  return UserValue{.packed = std::make_unique<PackedValue>(std::move(*packed))};
}

}  // namespace

/// One message's turn.
class HostedActor::TurnHere final : public actors::Turn {
 public:
  TurnHere(HostedActor& actor, Context& context, Asker& asker, bool is_packed)
      : actor_(actor), context_(context), asker_(asker), is_packed_(is_packed) {}

  std::chrono::nanoseconds now() const override { return context_.clock().now(); }

  actors::TargetPtr self() override {
    return std::make_shared<LocalTarget>(HostedActor::self(context_), actor_.host_);
  }

  actors::Host& host() override { return actor_.host_; }

  void after(std::chrono::nanoseconds delay, actors::Box message) override {
    context_.after(delay, UserMessage{.value = {.box = std::move(message)}});
  }

  void stop() override { context_.stop(); }

  actors::Target::Done take_asker() override {
    if (asker_ == nullptr) return nullptr;
    auto held = std::make_shared<Asker>(std::move(asker_));
    return [held, &host = actor_.host_, life = actor_.host_.life(),
            is_packed = is_packed_](actors::Result<actors::Box> answer) {
      if (!answer) return (*held)->answer(tl::unexpected<Error>(internal(answer.error())));
      (*held)->answer(answer_of(host, std::move(*answer), is_packed && life->load()));
    };
  }

  Post post() override {
    if (actor_.life_ == nullptr) actor_.life_ = std::make_shared<const int>();
    const std::weak_ptr<const int> life = actor_.life_;
    return [self = HostedActor::self(context_), life](std::function<void()> run) {
      deliver(*self.receiver(), RunPosted{life, std::move(run)});
    };
  }

  actors::Future<std::monostate> keep(actors::Box state) override {
    const actors::Promise<std::monostate> promise;
    actor_.place_.kept->keep(state, [promise](const Status& kept) {
      promise.set(kept ? actors::Status() : shown(kept.error()));
    });
    return promise.future();
  }

 private:
  HostedActor& actor_;
  Context& context_;
  Asker& asker_;
  const bool is_packed_;
};

Result<UserValue> HostedActor::on(UserMessage&& message, Asker& asker, Context& context) {
  if (!has_to_wait(message)) return handle(std::move(message), asker, context);
  Status status = hold(message, asker, context);
  if (!status && asker == nullptr) status = host_.dropped(status.error());
  if (!status) return pass(status);
  return UserValue{};  // The asker of a held message is answered later.
}

bool HostedActor::has_to_wait(const UserMessage& message) const {
  const PackedValue* packed = message.value.packed.get();
  if (packed == nullptr) return false;
  if (packed->large) return true;
  if (packed->sender == 0) return false;
  const auto held = place_.held.lock();
  return held != nullptr && held->has(packed->sender);
}

Status HostedActor::hold(UserMessage& message, Asker& asker, Context& context) {
  auto held = place_.held.lock();
  if (held == nullptr) place_.held = held = std::make_shared<HeldMessages>(place_.mailbox_bytes);
  return held->add(message, asker, host_, self(context).receiver());
}

Status HostedActor::on(HeldReady&& ready, Context& context) {
  held_ = ready.held;
  held_->take(ready, context.clock().now());
  auto next = held_->next(ready.sender, self(context).receiver());
  if (!next) return {};
  if (!next->bytes) {
    const Error error{next->bytes.error().code, "a large message: " + next->bytes.error().message};
    if (next->asker == nullptr) return host_.dropped(error);
    next->asker->answer(tl::unexpected<Error>(error));
    return {};
  }
  auto answer = handle_held(*next, context);
  if (next->asker != nullptr) {
    next->asker->answer(std::move(answer));
    return {};
  }
  return answer ? Status() : pass(answer);
}

// After a crash the actor's cell refuses the message in work, which is the HeldReady.
Result<UserValue> HostedActor::handle_held(HeldMessages::Ready& held, Context& context) {
  try {
    return handle(std::move(held.message), held.asker, context);
  } catch (...) {
    const auto crash = catch_crash([] { throw; });
    if (held.asker != nullptr) held.asker->answer(tl::unexpected<Error>(*crash));
    throw;
  }
}

Result<UserValue> HostedActor::handle(UserMessage&& message, Asker& asker, Context& context) {
  if (is_fenced()) {
    if (asker == nullptr) return UserValue{};  // An error that no asker hears would be logged.
    return fail(Code::kUnavailable, "it lives elsewhere by now");
  }
  const std::uint64_t number = number_of(message.value);
  const bool is_packed = message.value.packed != nullptr;
  if (is_packed && number == kStopNumber) {
    context.stop();
    return UserValue{.box = actors::Box::of(std::monostate())};
  }
  const actors::ValueType* type = object_->message_type(number);
  if (type == nullptr) {
    return fail(Code::kInvalid, "the actor does not handle this message");
  }
  actors::Box& box = message.value.box;
  if (box.type() != type) {
    auto opened = open_value(std::move(message.value), type, host_);
    if (!opened) return pass(opened);
    box = std::move(*opened);
  }
  TurnHere turn(*this, context, asker, is_packed);
  actors::Context shown_context(turn);
  auto answer = object_->receive(box, shown_context);
  box = actors::Box();  // What the message owns is gone when its asker hears of it.
  if (!answer) return tl::unexpected<Error>(internal(answer.error()));
  if (asker == nullptr) return UserValue{};
  if (answer->type() == nullptr) *answer = actors::Box::of(std::monostate());
  return answer_of(host_, std::move(*answer), is_packed);
}

Status HostedActor::on(RunPosted&& posted, Context&) {
  if (!posted.life.expired() && !is_fenced()) posted.run();
  return {};
}

}  // namespace forebay
