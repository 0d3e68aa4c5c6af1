#include "engine/actors/cluster/directory/actor_directory.h"

#include <utility>
#include <vector>

#include "engine/actors/kept_state.h"

namespace forebay {
namespace {

/// All kept states together.
constexpr std::uint64_t kMostKeptTogether = std::uint64_t{4} << 30;

}  // namespace

Status ActorDirectory::on(const BeginDirectory&, Context& context) {
  begun_ = context.clock().now();
  auto status =
      store_.load([this](const ActorRecord& record) { table_.restore(record); },
                  [this](const Error& error) { say(error.message + "; it is left out"); });
  if (!status) say("the actors of an earlier head cannot be read: " + status.error().message);
  if (!table_.missing_nodes().empty()) context.after(options_.patience, LoseMissingNodes{});
  return {};
}

Result<std::vector<EndActor>> ActorDirectory::on(const RegisterNode& node, Context& context) {
  if (auto status = check(node); !status) {
    say("refused: " + status.error().message);
    return pass(status);
  }
  if (table_.is_another_process(node)) lose(node.name, "its process has ended", context);
  ActorTable::Joined joined = table_.add(node);
  libraries_.set(node.name, node.libraries, node.accepts_shipped);
  for (const std::string& name : joined.changed) changed(name, context);
  watch(node.node, ActorRef<Down>(self(context)));
  say("node " + node.name + " offers actors at " + node.address);
  for (const TakeLibrary& lacks : libraries_.refused_by(node.name)) {
    say("node " + node.name + " lacks library " + lacks.library.name + ", which node " +
        lacks.from + " ships; it takes it if it is started with --accept-shipped");
  }
  offer_libraries();
  place_waiting(context);
  return std::move(joined.stale);
}

Status ActorDirectory::check(const RegisterNode& node) const {
  if (auto status = table_.check(node); !status) return status;
  auto status = libraries_.check(node.name, node.libraries);
  if (status) return status;
  return fail(status.error().code, "node " + node.name + ": " + status.error().message);
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
  if (store_.waiting_bytes() > 0 && store_.waiting_bytes() + bytes > kMostStatesInMemory) {
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

void ActorDirectory::remove(const std::string& name, Context& context) {
  table_.remove(name);
  changed(name, context);
  place_waiting(context);  // There may be room now.
}

void ActorDirectory::changed(const std::string& name, Context& context) {
  store_.change(name);
  write_soon(context);
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
