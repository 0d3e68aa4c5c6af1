#include "engine/actors/local_target.h"

#include <stdexcept>
#include <utility>

#include "core/runtime/ask.h"
#include "engine/actors/hosted_actor.h"

namespace forebay {
namespace {

/// Turns the runtime's Down of a watched actor into the public one.
class DownTranslator final : public Receiver {
 public:
  DownTranslator(ActorHost& host, actors::TargetPtr actor, actors::TargetPtr watcher)
      : Receiver(host, ActorId::kNobody), actor_(std::move(actor)), watcher_(std::move(watcher)) {}

  Status push(EnvelopePtr& envelope, MailboxCredit) override {
    if (envelope->type == kTypeOf<Down>) {
      const auto& crash = static_cast<EnvelopeOf<Down>&>(*envelope).message.crash;
      notify(*watcher_, actors::Box::of(actors::Down{.actor = actors::Ref<>(actor_),
                                                     .reason = crash ? crash->message : ""}));
    }
    envelope.reset();
    return {};
  }
  void watch(ReceiverPtr) override {}
  void stop_behind_queue() override {}

 private:
  const actors::TargetPtr actor_;
  const actors::TargetPtr watcher_;
};

constexpr std::size_t kNoLimit = std::size_t{1} << 40;

/// A state from one start of an actor to the next. A factory is called by one thread at a time.
struct HeldState {
  mutable KeptStatePtr state;
};

/// The runtime takes an exception for a crash, and starts the actor again within its limit.
void load_or_throw(const KeptState& state, actors::ActorObject& object) {
  if (auto status = state.load_into(object); !status) {
    throw std::runtime_error(status.error().message);
  }
}

}  // namespace

SpawnOptions internal_options(const actors::SpawnOptions& options) {
  return {.name = options.name,
          .mailbox_bytes = options.mailbox_bytes == 0 ? kNoLimit : options.mailbox_bytes,
          .restart = {.restarts = options.restarts, .period = options.period},
          .placement = options.own_thread ? Placement::kOwnThread : Placement::kShared};
}

actors::TargetPtr UserHost::spawn(const actors::SpawnOptions& options, actors::ActorFactory make) {
  return spawn(options, std::move(make), nullptr, nullptr);
}

actors::TargetPtr UserHost::spawn(const actors::SpawnOptions& options, actors::ActorFactory make,
                                  KeptStatePtr kept, std::shared_ptr<TurnMeter> meter) {
  SpawnOptions measured = internal_options(options);
  measured.meter = std::move(meter);
  const auto ref =
      host_.spawn(measured, [this, make = std::move(make), held = HeldState{std::move(kept)}] {
        auto object = make();
        if (held.state == nullptr && object->kept_type() != nullptr) {
          held.state = std::make_shared<KeptState>();
        }
        if (held.state != nullptr) load_or_throw(*held.state, *object);
        return std::make_unique<HostedActor>(*this, std::move(object), held.state);
      });
  return std::make_shared<LocalTarget>(ref, *this);
}

actors::TargetPtr UserHost::target_of(const ReceiverPtr& receiver) {
  if (receiver == nullptr) return nullptr;
  return std::make_shared<LocalTarget>(UserRef(receiver), *this);
}

actors::Status LocalTarget::push(actors::Box& message) {
  UserMessage user{.value = {.box = std::move(message)}};
  const Status status = ref_.tell(std::move(user));
  if (status) return {};
  message = std::move(user.value.box);  // NOLINT(bugprone-use-after-move): tell gave it back.
  return shown(status.error());
}

void LocalTarget::ask(actors::Box message, const actors::ValueType* reply,
                      std::chrono::nanoseconds deadline, Done done) {
  if (!life_->load()) {
    return done(actors::Error{actors::Code::kNotFound, "the actor's system has ended"});
  }
  ask_and_deliver(ref_, UserMessage{.value = {.box = std::move(message)}}, deadline,
                  [&host = host_, reply, done = std::move(done)](Result<UserValue> answer) {
                    if (!answer) return done(shown(answer.error()));
                    auto opened = open_value(std::move(*answer), reply, host);
                    if (!opened) return done(shown(opened.error()));
                    done(std::move(*opened));
                  });
}

void LocalTarget::watch(actors::TargetPtr watcher) {
  if (!life_->load()) return;
  forebay::watch(
      ref_, ActorRef<Down>(std::make_shared<DownTranslator>(
                host_.host(), std::make_shared<LocalTarget>(ref_, host_), std::move(watcher))));
}

void LocalTarget::deliver_always(actors::Box message) const {
  deliver(*ref_.receiver(), UserMessage{.value = {.box = std::move(message)}});
}

AnyActor local_actor(const actors::Target& target) {
  const auto* local = dynamic_cast<const LocalTarget*>(&target);
  return local == nullptr ? AnyActor() : AnyActor(local->ref());
}

void notify(actors::Target& watcher, actors::Box message) {
  if (const auto* local = dynamic_cast<const LocalTarget*>(&watcher)) {
    return local->deliver_always(std::move(message));
  }
  static_cast<void>(watcher.push(message));
}

}  // namespace forebay
