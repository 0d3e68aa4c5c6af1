#include "engine/actors/cluster/actor_directory.h"

#include <chrono>
#include <utility>
#include <vector>

#include "engine/actors/kept_state.h"

namespace forebay {
namespace {

/// How long a node may take to make an actor.
constexpr std::chrono::seconds kStartPatience(30);
/// After this the disk that refused a write, or a state that could not be read, is tried again.
constexpr std::chrono::seconds kTryAgain(1);
/// All kept states together; and those that wait for the disk, or are on their way to nodes.
constexpr std::uint64_t kMostKeptTogether = std::uint64_t{4} << 30;
constexpr std::size_t kMostInMemory = std::size_t{64} << 20;
constexpr std::size_t kMostTogether = 1024;  // actors of a group

}  // namespace

Status ActorDirectory::on(const BeginDirectory&, Context& context) {
  auto status =
      store_.load([this](const ActorRecord& record) { table_.restore(record); },
                  [this](const Error& error) { say(error.message + "; it is left out"); });
  if (!status) say("the actors of an earlier head cannot be read: " + status.error().message);
  if (!table_.missing_nodes().empty()) context.after(options_.patience, LoseMissingNodes{});
  return {};
}

Status ActorDirectory::on(const LoseMissingNodes&, Context& context) {
  for (const std::string& node : table_.missing_nodes()) {
    lose(node, "it has not come back since the head was started", context);
  }
  return {};
}

Result<std::vector<EndActor>> ActorDirectory::on(const RegisterNode& node, Context& context) {
  if (auto status = table_.check(node); !status) {
    say("refused: " + status.error().message);
    return pass(status);
  }
  if (table_.is_another_process(node)) lose(node.name, "its process has ended", context);
  ActorTable::Joined joined = table_.add(node);
  for (const std::string& name : joined.changed) changed(name, context);
  watch(node.node, ActorRef<Down>(self(context)));
  say("node " + node.name + " offers actors at " + node.address);
  place_waiting(context);
  return std::move(joined.stale);
}

Status ActorDirectory::on(const ActorEnded& ended, Context& context) {
  const ActorTable::Entry* entry = table_.with_life(ended.life);
  if (entry == nullptr) return {};
  if (!ended.reason.empty()) {
    say("actor " + ended.name + " on node " + entry->node + " has ended: " + ended.reason);
  }
  remove(std::string(entry->spec.name), context);  // The entry goes, and its name with it.
  return {};
}

Status ActorDirectory::on(KeepState&& keep, KeeperPtr& asker, Context& context) {
  ActorTable::Entry* entry = table_.with_life(keep.life);
  if (entry == nullptr || entry->spec.name != keep.name) {
    return fail(Code::kNotFound, "actor " + keep.name + " has ended, or lives elsewhere by now");
  }
  const std::size_t bytes = keep.state.size();
  if (bytes == 0 || bytes > kMostKeptBytes || asker == nullptr) {
    return fail(Code::kInvalid, "actor " + keep.name + ": a state takes 1 byte to 16 MiB");
  }
  if (table_.kept_bytes() - entry->kept_bytes + bytes > kMostKeptTogether) {
    return fail(Code::kOverloaded,
                "actor " + keep.name + ": the head keeps at most 4 GiB of states");
  }
  if (store_.waiting_bytes() > 0 && store_.waiting_bytes() + bytes > kMostInMemory) {
    return fail(Code::kOverloaded, "actor " + keep.name + ": too many states wait for the disk");
  }
  if (entry->kept_bytes != bytes) changed(keep.name, context);
  table_.set_kept_bytes(*entry, bytes);
  store_.keep(keep.name, entry->spec.birth, std::move(keep.state));
  keepers_.push_back(std::move(asker));
  write_soon(context);
  return {};  // The asker is answered later.
}

Result<PlacedActor> ActorDirectory::on(PlaceActor&& place, AskerPtr& asker, Context& context) {
  if (asker == nullptr) return fail(Code::kInvalid, "who places an actor must ask");
  if (auto status = table_.check(place); !status) return pass(status);
  place_new(place, std::move(asker), context);
  return PlacedActor{};  // The asker is answered later.
}

std::uint64_t ActorDirectory::place_new(PlaceActor& place, AskerPtr asker, Context& context) {
  place.spec.birth = 0;
  ActorTable::Entry& entry = table_.add(place.spec);
  table_.place(entry, place.node);
  askers_.emplace(entry.life, std::move(asker));
  placed_.push_back(entry.life);
  changed(entry.spec.name, context);
  return entry.life;
}

Result<std::vector<PlacedActor>> ActorDirectory::on(
    PlaceGroup&& group, std::unique_ptr<Replier<std::vector<PlacedActor>>>& asker,
    Context& context) {
  if (asker == nullptr || group.members.empty() || group.members.size() > kMostTogether) {
    return fail(Code::kInvalid, "a group has 1 to 1024 actors");
  }
  const auto starting = std::make_shared<Group>();
  for (PlaceActor& place : group.members) {
    if (auto status = table_.check(place); !status) {
      starting->error = status.error();
      break;
    }
    const std::size_t index = starting->members.size();
    AskerPtr one = reply_to<PlacedActor>([starting, index](Result<PlacedActor> placed) {
      --starting->left;
      if (placed) {
        starting->members[index] = std::move(*placed);
      } else if (!starting->error) {
        starting->error = placed.error();
      }
    });
    ++starting->left;
    PlacedActor& member = starting->members.emplace_back();
    member.name = place.spec.name;
    member.birth = place_new(place, std::move(one), context);
  }
  if (starting->error) {
    end_group(*starting, context);
    return tl::unexpected<Error>(*starting->error);
  }
  starting->asker = std::move(asker);
  groups_.push_back(starting);
  return std::vector<PlacedActor>();  // The asker is answered later.
}

/// Answers for the groups whose last actor has started or failed.
void ActorDirectory::settle_groups(Context& context) {
  for (auto at = groups_.begin(); at != groups_.end();) {
    if ((*at)->left > 0) {
      ++at;
      continue;
    }
    const std::shared_ptr<Group> group = *at;
    at = groups_.erase(at);
    if (group->error) {
      end_group(*group, context);
      group->asker->answer(tl::unexpected<Error>(*group->error));
    } else {
      group->asker->answer(std::move(group->members));
    }
  }
}

void ActorDirectory::end_group(const Group& group, Context& context) {
  for (const PlacedActor& member : group.members) {
    const ActorTable::Entry* entry = table_.find(member.name);
    if (entry == nullptr || entry->spec.birth != member.birth) continue;
    const ActorTable::Node* node = table_.node_named(entry->node);
    if (node != nullptr) static_cast<void>(node->ref.tell(EndActor{member.name, entry->life}));
    static_cast<void>(take_asker(entry->life));
    remove(member.name, context);
  }
}

void ActorDirectory::remove(const std::string& name, Context& context) {
  table_.remove(name);
  changed(name, context);
  place_waiting(context);  // There may be room now.
}

void ActorDirectory::changed(const std::string& name, Context& context) {
  store_.change(name);
  write_soon(context);
}

void ActorDirectory::write_soon(Context& context) {
  if (!std::exchange(writes_soon_, true)) static_cast<void>(self(context).tell(WriteActors{}));
}

Status ActorDirectory::on(const WriteActors&, Context& context) {
  writes_soon_ = false;
  const Status written = store_.write(table_);
  for (const KeeperPtr& keeper : std::exchange(keepers_, {})) keeper->answer(Status(written));
  if (!written) {
    say("actors cannot be stored: " + written.error().message);
    refuse_starts(written.error());
    settle_groups(context);
    writes_soon_ = true;
    context.after(kTryAgain, WriteActors{});
  }
  ready_.insert(ready_.end(), placed_.begin(), placed_.end());
  placed_.clear();
  start_ready(context);
  return {};
}

/// Actors that start for the first time do so only if the disk has them.
void ActorDirectory::refuse_starts(const Error& error) {
  std::erase_if(placed_, [&](std::uint64_t life) {
    const ActorTable::Entry* entry = table_.with_life(life);
    const AskerPtr asker = entry == nullptr ? nullptr : take_asker(life);
    if (asker == nullptr) return false;
    const std::string name = entry->spec.name;
    table_.remove(name);
    store_.change(name);
    asker->answer(fail(error.code, "actor " + name + " cannot be stored: " + error.message));
    return true;
  });
}

/// States on their way to nodes are bounded: further actors that have one wait.
void ActorDirectory::start_ready(Context& context) {
  for (; !ready_.empty(); ready_.pop_front()) {
    const ActorTable::Entry* entry = table_.with_life(ready_.front());
    if (entry == nullptr) continue;  // It has ended meanwhile, or its node was lost.
    if (sent_bytes_ > 0 && sent_bytes_ + entry->kept_bytes > kMostInMemory) return;
    if (auto status = start(*entry, context); !status) {
      const std::string name = entry->spec.name;
      say("actor " + name + " cannot be started: " + status.error().message);
      if (status.error().code != Code::kCorrupt) return context.after(kTryAgain, WriteActors{});
      remove(name, context);
    }
  }
}

/// Fails if the actor's kept state cannot be read.
Status ActorDirectory::start(const ActorTable::Entry& entry, Context& context) {
  StartActor message{.spec = entry.spec, .life = entry.life, .state = {}};
  if (entry.kept_bytes > 0) {
    auto state = store_.state(entry.spec.name, entry.spec.birth);
    if (!state) return pass(state);
    message.state = std::move(*state);
    sent_states_[entry.life] = message.state.size();
    sent_bytes_ += message.state.size();
  }
  context.ask(table_.node_named(entry.node)->ref, std::move(message), kStartPatience,
              ActorRef<Answered<StartActor>>(self(context)), entry.life);
  return {};
}

ActorDirectory::AskerPtr ActorDirectory::take_asker(std::uint64_t life) {
  auto found = askers_.extract(life);
  return found ? std::move(found.mapped()) : nullptr;
}

Status ActorDirectory::on(Answered<StartActor>&& started, Context& context) {
  if (const auto sent = sent_states_.extract(started.token)) sent_bytes_ -= sent.mapped();
  start_ready(context);
  ActorTable::Entry* entry = table_.with_life(started.token);
  if (entry == nullptr) return {};  // Its node was lost meanwhile.
  if (!started.result) {
    start_failed(*entry, started.result.error(), context);
    settle_groups(context);
    return {};
  }
  entry->state = ActorTable::State::kRunning;
  entry->started = true;
  changed(entry->spec.name, context);
  if (const AskerPtr asker = take_asker(started.token)) {
    asker->answer(table_.where(entry->spec.name));
    settle_groups(context);
  } else {
    say("actor " + entry->spec.name + " was started again on node " + entry->node);
  }
  return {};
}

void ActorDirectory::start_failed(ActorTable::Entry& entry, const Error& error, Context& context) {
  const std::string name = entry.spec.name;
  const std::string message = "actor " + name + " on node " + entry.node + ": " + error.message;
  AskerPtr asker = take_asker(entry.life);
  // If the session with the node is over, its Down decides about the actor.
  if (asker == nullptr && error.code == Code::kUnavailable) return;
  // A node that is late may start it yet: it is told to end it again.
  if (error.code == Code::kTimeout) {
    const ActorTable::Node* node = table_.node_named(entry.node);
    if (node != nullptr) static_cast<void>(node->ref.tell(EndActor{name, entry.life}));
  }
  remove(name, context);
  if (asker != nullptr) return asker->answer(fail(error.code, message));
  say(message + "; it has ended");
}

Result<PlacedActor> ActorDirectory::on(const FindActor& find, Context&) {
  return table_.where(find.name);
}

Result<ActorsStatus> ActorDirectory::on(const QueryActors&, Context&) {
  ActorsStatus status = table_.status();
  for (ActorStatus& actor : status.shown) {
    const auto node = uses_.find(actor.node);
    if (node == uses_.end()) continue;
    const auto use = node->second.find(actor.name);
    if (use != node->second.end()) actor.use = use->second;
  }
  return status;
}

Status ActorDirectory::on(ReportUse&& report, Context&) {
  if (table_.node_named(report.node) == nullptr || report.actors.size() > kMostShownActors) {
    return {};
  }
  uses_[report.node] = std::move(report.actors);
  return {};
}

Status ActorDirectory::on(const Down& down, Context& context) {
  const ActorTable::Node* node = table_.node_of(down.actor);
  if (node == nullptr) return {};  // It has registered again since.
  const std::string name = node->name;
  lose(name, down.crash ? down.crash->message : "it has ended", context);
  return {};
}

void ActorDirectory::lose(const std::string& node, const std::string& why, Context& context) {
  uses_.erase(node);
  const ActorTable::Loss loss = table_.lose(node, context.clock().now());
  const std::string lost = "node " + node + " was lost: " + why;
  say(lost + "; it had " + std::to_string(loss.lives.size()) + " actors");
  for (const std::uint64_t life : loss.lives) {
    if (const AskerPtr asker = take_asker(life)) {
      asker->answer(fail(Code::kUnavailable, lost));
    }
  }
  settle_groups(context);
  for (const std::string& moving : loss.moving) changed(moving, context);
  for (const std::string& ended : loss.ended) {
    say("actor " + ended + " has ended with its node: no restart is left");
    changed(ended, context);
  }
  place_waiting(context);
}

void ActorDirectory::place_waiting(Context& context) {
  for (const std::string& name : table_.waiting()) {
    ActorTable::Entry& entry = *table_.find(name);
    if (table_.place(entry, "") == nullptr) continue;
    placed_.push_back(entry.life);
    changed(name, context);
  }
}

void ActorDirectory::say(const std::string& sentence) const {
  if (options_.say) options_.say(sentence);
}

}  // namespace forebay
