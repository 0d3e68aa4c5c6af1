#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/runtime/actor.h"

namespace forebay {

/// Any actor → spawner: start an actor of this kind. The answer holds the new actor:
/// `SomeRef(answer.receiver)`.
struct SpawnOrder {
  static constexpr std::string_view kTag = "node.spawn_order/1";
  using Reply = AnyActor;
  std::string kind;
  std::string config;
  static auto fields(auto& self) { return std::tie(self.kind, self.config); }
};

using SpawnerRef = ActorRef<SpawnOrder>;

/// Starts actors for other nodes, by the name of their kind and a configuration text.
///
/// Publish it as kSpawnerName. Owns the list of kinds; the asker decides when an actor stops.
/// Refuses an unknown kind with kNotFound, and passes on the error of a factory.
class SpawnerActor final : public ActorOf<SpawnerActor, SpawnOrder> {
 public:
  using Factory = std::function<Result<AnyActor>(const std::string& config)>;
  using Kinds = std::map<std::string, Factory>;

  static constexpr const char* kSpawnerName = "node.spawner";

  explicit SpawnerActor(Kinds kinds) : kinds_(std::move(kinds)) {}

  Result<AnyActor> on(const SpawnOrder& order, Context&) {
    const auto found = kinds_.find(order.kind);
    if (found == kinds_.end()) {
      return fail(Code::kNotFound, "no actor of kind " + order.kind + " can be started here");
    }
    return found->second(order.config);
  }

 private:
  const Kinds kinds_;
};

}  // namespace forebay
