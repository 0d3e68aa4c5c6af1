#include "engine/actors/hosted_actor.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <variant>

namespace forebay {

/// One message's turn.
class HostedActor::TurnHere final : public actors::Turn {
 public:
  TurnHere(HostedActor& actor, Context& context, std::unique_ptr<Replier<UserValue>>* asker)
      : actor_(actor), context_(context), asker_(asker) {}

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
    if (asker_ == nullptr || *asker_ == nullptr) return nullptr;
    auto held = std::make_shared<std::unique_ptr<Replier<UserValue>>>(std::move(*asker_));
    return [held](actors::Result<actors::Box> answer) {
      if (!answer) return (*held)->answer(tl::unexpected<Error>(internal(answer.error())));
      (*held)->answer(UserValue{.box = std::move(*answer)});
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
    actor_.kept_->keep(state, [promise](const Status& kept) {
      promise.set(kept ? actors::Status() : shown(kept.error()));
    });
    return promise.future();
  }

 private:
  HostedActor& actor_;
  Context& context_;
  std::unique_ptr<Replier<UserValue>>* asker_;
};

Result<UserValue> HostedActor::on(UserMessage&& message, std::unique_ptr<Replier<UserValue>>& asker,
                                  Context& context) {
  if (is_fenced()) {
    if (asker == nullptr) return UserValue{};  // An error that no asker hears would be logged.
    return fail(Code::kUnavailable, "it lives elsewhere by now");
  }
  const std::uint64_t number = number_of(message.value);
  const actors::ValueType* type = object_->message_type(number);
  if (type == nullptr) {
    return fail(Code::kInvalid, "the actor does not handle this message");
  }
  auto box = open_value(std::move(message.value), type, host_);
  if (!box) return pass(box);
  TurnHere turn(*this, context, &asker);
  actors::Context shown_context(turn);
  auto answer = object_->receive(*box, shown_context);
  if (!answer) return tl::unexpected<Error>(internal(answer.error()));
  if (answer->type() == nullptr) return UserValue{.box = actors::Box::of(std::monostate())};
  return UserValue{.box = std::move(*answer)};
}

Status HostedActor::on(RunPosted&& posted, Context&) {
  if (!posted.life.expired() && !is_fenced()) posted.run();
  return {};
}

}  // namespace forebay
