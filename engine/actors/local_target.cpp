#include "engine/actors/local_target.h"

#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/deadline.h"
#include "core/runtime/ask.h"
#include "core/runtime/cell.h"
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

/// The network's work, for users' threads.
class NetworkWork final : public actors::WaitingWork {
 public:
  explicit NetworkWork(std::shared_ptr<forebay::WaitingWork> work) : work_(std::move(work)) {}

  void help_until(const std::function<bool()>& done) override {
    if (can_help_while_waiting()) work_->help_until(done);
  }
  void look_again() override { work_->look_again(); }

 private:
  const std::shared_ptr<forebay::WaitingWork> work_;
};

constexpr std::size_t kNoLimit = std::size_t{1} << 40;

/// An actor's place, in its factory, which one thread calls at a time.
struct PlaceInFactory {
  mutable HostedPlace place;
};

/// For what is on its way before a stop.
constexpr std::chrono::minutes kStopPatience(1);

/// Gets the bytes of a large answer within the time that its question has left.
void fetch_answer(UserHost& host, UserValue answer, std::chrono::nanoseconds until,
                  Question<UserValue>::Deliver open) {
  const auto question =
      std::make_shared<Question<UserValue>>(host.host().timers(), std::move(open));
  const actors::ObjectPtr object = host.object_of(*answer.packed->large);
  const auto value = std::make_shared<UserValue>(std::move(answer));
  fetch(object, [question, value, object](Result<Frame> bytes) {
    if (!bytes) {
      return question->settle(fail(bytes.error().code, "a large answer: " + bytes.error().message));
    }
    value->packed->fetched = std::move(*bytes);
    question->settle(std::move(*value));
  });
  Question<UserValue>::expire_at(question, until);
}

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
  PlaceInFactory held{{.kept = std::move(kept), .mailbox_bytes = measured.mailbox_bytes}};
  const auto ref = host_.spawn(measured, [this, make = std::move(make), held = std::move(held)] {
    HostedPlace& place = held.place;
    auto object = make();
    if (place.kept == nullptr && object->kept_type() != nullptr) {
      place.kept = std::make_shared<KeptState>();
    }
    if (place.kept != nullptr) load_or_throw(*place.kept, *object);
    return std::make_unique<HostedActor>(*this, std::move(object), place);
  });
  return std::make_shared<LocalTarget>(ref, *this);
}

Status UserHost::dropped(const Error& why) {
  const std::uint64_t count = num_dropped_.fetch_add(1) + 1;
  if (!std::has_single_bit(count)) return {};
  return fail(why.code, "a message of another process was lost, number " + std::to_string(count) +
                            ": " + why.message);
}

actors::TargetPtr UserHost::target_of(const ReceiverPtr& receiver) {
  if (receiver == nullptr) return nullptr;
  return std::make_shared<LocalTarget>(UserRef(receiver), *this);
}

LocalTarget::LocalTarget(UserRef ref, UserHost& host)
    : ref_(std::move(ref)),
      is_here_(dynamic_cast<const Cell*>(ref_.receiver().get()) != nullptr),
      host_(host),
      life_(host.life()) {}

Result<UserMessage> LocalTarget::to_send(const actors::Box& message) const {
  if (!life_->load()) return fail(Code::kNotFound, "the actor's system has ended");
  auto packed = pack_to_send(message, host_.objects());
  if (!packed) return pass(packed);
  return UserMessage{.value = {.packed = std::make_unique<PackedValue>(std::move(*packed))}};
}

actors::Status LocalTarget::push(actors::Box& message) {
  if (!is_here_) {
    auto user = to_send(message);
    if (!user) return shown(user.error());
    if (auto status = ref_.tell(std::move(*user)); !status) return shown(status.error());
    message = actors::Box();
    return {};
  }
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
  Result<UserMessage> user =
      is_here_ ? UserMessage{.value = {.box = std::move(message)}} : to_send(message);
  if (!user) return done(shown(user.error()));
  const auto until = deadline_after(host_.host().clock().now(), deadline);
  const auto open = [&host = host_, reply, done = std::move(done)](Result<UserValue> answer) {
    if (!answer) return done(shown(answer.error()));
    auto opened = open_value(std::move(*answer), reply, host);
    if (!opened) return done(shown(opened.error()));
    done(std::move(*opened));
  };
  ask_and_deliver(
      ref_, std::move(*user), deadline, [&host = host_, until, open](Result<UserValue> answer) {
        const bool is_large = answer && answer->packed != nullptr && answer->packed->large;
        if (!is_large) return open(std::move(answer));
        fetch_answer(host, std::move(*answer), until, open);
      });
}

std::shared_ptr<actors::WaitingWork> LocalTarget::waiting_work() const {
  auto work = ref_.receiver() == nullptr ? nullptr : ref_.receiver()->waiting_work();
  return work == nullptr ? nullptr : std::make_shared<NetworkWork>(std::move(work));
}

void LocalTarget::stop() {
  const std::uint64_t sender = is_here_ || !life_->load() ? 0 : host_.objects().sender();
  if (sender == 0) return ref_.stop();
  // A stop of the runtime would overtake what the actor holds back.
  UserMessage stop;
  stop.value.packed = std::make_unique<PackedValue>(
      PackedValue{.number = kStopNumber, .bytes = {}, .actors = {}, .large = {}, .sender = sender});
  ask_and_deliver(ref_, std::move(stop), kStopPatience,
                  [ref = ref_](const Result<UserValue>&) { ref.stop(); });
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
