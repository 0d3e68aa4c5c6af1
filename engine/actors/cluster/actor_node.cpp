#include "engine/actors/cluster/actor_node.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/runtime/ask.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kLookInterval(100);
constexpr std::chrono::seconds kReportInterval(1);
constexpr std::chrono::seconds kRegisterPatience(5);
constexpr std::chrono::seconds kReadPatience(10);
constexpr std::chrono::seconds kKeepPatience(10);
/// States of a node's actors that may be on their way to the head together.
constexpr std::size_t kMostKeepingBytes = std::size_t{64} << 20;

actors::SpawnOptions options_of(const ActorSpec& spec) {
  return {.name = spec.name,
          .mailbox_bytes = static_cast<std::size_t>(spec.mailbox_bytes),
          .restarts = static_cast<std::size_t>(spec.restarts),
          .period = spec.period,
          .own_thread = spec.own_thread};
}

}  // namespace

Status ActorNode::on(const BeginActorNode&, Context& context) {
  return on(ActorNodeTick{}, context);
}

Status ActorNode::on(const ActorNodeTick&, Context& context) {
  context.after(kLookInterval, ActorNodeTick{});
  if (!registered_ && !asking_) register_here(context);
  fetch_libraries(context);
  const auto now = context.clock().now();
  if (registered_ && now - reported_ >= kReportInterval) report_use(now);
  return {};
}

void ActorNode::report_use(std::chrono::nanoseconds now) {
  const std::chrono::duration<double> interval = now - std::exchange(reported_, now);
  ReportUse report{.node = options_.name, .actors = {}};
  for (auto& [name, held] : actors_) {
    const auto busy = held.meter->busy(now);
    const std::chrono::duration<double> ran = busy - std::exchange(held.busy, busy);
    const ActorUse use{.busy = std::clamp(ran / interval, 0.0, 1.0),
                       .waiting_bytes = held.actor.receiver()->waiting_bytes(),
                       .crashes = held.meter->crashes()};
    const bool is_idle = use.busy < 0.001 && use.waiting_bytes == 0 && use.crashes == 0;
    if (!is_idle && report.actors.size() < kMostShownActors) report.actors.emplace(name, use);
  }
  static_cast<void>(head_.tell(std::move(report)));  // the next one makes up for it
}

void ActorNode::register_here(Context& context) {
  head_ = options_.directory();
  if (head_.receiver() == nullptr) return;
  RegisterNode message{.name = options_.name,
                       .address = options_.address,
                       .process = options_.process,
                       .libraries = libraries_.list(),
                       .holds = {},
                       .node = ActorNodeRef(self(context)),
                       .cpu_thousandths = options_.cpus * 1000,
                       .memory_bytes = options_.memory_bytes,
                       .accepts_shipped = libraries_.accepts_shipped()};
  for (const auto& [name, held] : actors_) message.holds.push_back(held.start);
  asking_ = true;
  context.ask(head_, std::move(message), kRegisterPatience,
              ActorRef<Answered<RegisterNode>>(self(context)));
}

Status ActorNode::on(Answered<RegisterNode>&& registered, Context& context) {
  asking_ = false;
  if (!registered.result) {
    const Error& error = registered.result.error();
    const bool refused = error.code == Code::kInvalid;
    if (refused && error.message != trouble_) options_.say("the head refuses " + error.message);
    trouble_ = refused ? error.message : "";
    return {};
  }
  registered_ = true;
  trouble_.clear();
  watch(head_, ActorRef<Down>(self(context)));
  for (const EndActor& stale : *registered.result) {
    options_.say("actor " + stale.name + " lives elsewhere by now, and ends here");
    static_cast<void>(on(stale, context));
  }
  return {};
}

Status ActorNode::on(const TakeLibrary& take, Context& context) {
  if (auto status = fetch_.want(take); !status) options_.say(status.error().message);
  fetch_libraries(context);
  return {};
}

void ActorNode::fetch_libraries(Context& context) {
  if (!registered_) return;
  if (auto read = fetch_.ask()) {
    context.ask(head_, std::move(*read), kReadPatience,
                ActorRef<Answered<ReadLibrary>>(self(context)));
  }
}

Status ActorNode::on(Answered<ReadLibrary>&& part, Context& context) {
  const bool came = part.result.has_value();
  auto opened = fetch_.take(part.result);
  if (!opened) {
    options_.say(opened.error().message);
  } else if (*opened) {
    options_.say("library " + (*opened)->name + " came from another node and is open");
    // If no head can be reached, the next registration lists it.
    static_cast<void>(head_.tell(LibraryLoaded{options_.name, std::move(**opened)}));
  }
  if (came) fetch_libraries(context);  // Else the next tick does.
  return {};
}

Result<LibraryChunk> ActorNode::on(const ReadLibrary& read, Context&) {
  return libraries_.read(read);
}

/// The state that the actor begins with, and the way of later ones to the head.
KeptStatePtr ActorNode::kept_state_of(StartActor& start) const {
  const auto keep = [name = start.spec.name, life = start.life, directory = options_.directory,
                     keeping = keeping_](const KeptState::Bytes& state, KeptState::Done done) {
    const DirectoryRef head = directory();
    if (head.receiver() == nullptr) {
      return done(fail(Code::kUnavailable, "no head can be reached that keeps the state"));
    }
    const std::size_t bytes = state.size();
    if (keeping->fetch_add(bytes) + bytes > kMostKeepingBytes) {
      keeping->fetch_sub(bytes);
      return done(fail(Code::kOverloaded, "too many states are on their way to the head"));
    }
    ask_and_deliver(head, KeepState{name, life, state}, kKeepPatience,
                    [keeping, bytes, done = std::move(done)](const Status& kept) {
                      keeping->fetch_sub(bytes);
                      done(kept);
                    });
  };
  return std::make_shared<KeptState>(std::exchange(start.state, {}), keep);
}

Status ActorNode::on(StartActor&& start, Context& context) {
  const ActorSpec& spec = start.spec;
  if (const auto before = actors_.find(spec.name); before != actors_.end()) {
    if (before->second.start.life == start.life) return {};
    static_cast<void>(on(EndActor{spec.name, before->second.start.life}, context));
  }
  auto factory = libraries_.types().factory(spec.type, spec.start);
  if (!factory) return pass(factory);
  const KeptStatePtr kept = kept_state_of(start);
  auto meter = std::make_shared<TurnMeter>();
  const auto target = host_.spawn(options_of(spec), std::move(*factory), kept, meter);
  const UserRef actor(local_actor(*target).receiver);
  if (libraries_.types().gets_started(spec.type))
    notify(*target, actors::Box::of(actors::Started{}));
  watch(actor, ActorRef<Down>(self(context)));
  names_[actor.id()] = spec.name;
  Held& held = actors_[spec.name];
  held = {.start = std::move(start), .actor = actor, .meter = std::move(meter), .kept = kept};
  return {};
}

Status ActorNode::on(const EndActor& end, Context&) {
  const auto found = actors_.find(end.name);
  if (found == actors_.end() || found->second.start.life != end.life) return {};
  found->second.kept->fence();
  found->second.actor.stop();
  names_.erase(found->second.actor.id());
  actors_.erase(found);
  return {};
}

Result<UserRef> ActorNode::on(const LocateActor& locate, Context&) {
  const auto found = actors_.find(locate.name);
  if (found != actors_.end() && found->second.start.life == locate.life) {
    return found->second.actor;
  }
  return fail(Code::kNotFound, "actor " + locate.name + " is not on node " + options_.name);
}

Status ActorNode::on(const Down& down, Context&) {
  if (down.actor == head_.id()) {
    registered_ = false;
    return {};
  }
  const auto name = names_.extract(down.actor);
  if (!name) return {};
  const auto ended = actors_.extract(name.mapped());
  const std::string reason = down.crash ? down.crash->message : "";
  // If no head can be reached, it sees at the next registration which actors are left.
  static_cast<void>(head_.tell(ActorEnded{name.mapped(), ended.mapped().start.life, reason}));
  return {};
}

}  // namespace forebay
