#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/actors/cluster/cluster_messages.h"

namespace forebay {

/// Bounds of a cluster's actors, and of the arguments of one.
inline constexpr std::size_t kMostActors = 1'000'000;
inline constexpr std::size_t kMostStartBytes = std::size_t{1} << 20;

/// Whether `name` may be an actor's: 1 to 128 bytes without control characters.
bool is_actor_name(std::string_view name);

/// Whether what the actor needs of its node can be added up.
bool are_sound_needs(const ActorSpec& spec);
/// Whether a program or a node may have sent this.
bool is_sound(const ActorSpec& spec);

/// What a head keeps of an actor on its disk.
struct ActorRecord {
  ActorSpec spec;
  std::string node;           ///< Empty while it waits for one.
  std::uint64_t process = 0;  ///< Of the node.
  std::uint64_t life = 0;
  std::uint64_t moves = 0;
  bool started = false;          ///< The node has confirmed this life.
  std::uint64_t kept_bytes = 0;  ///< Of its kept state.
  /// When its nodes were lost, those that count against its restarts: time since 1970.
  std::vector<std::chrono::nanoseconds> losses = {};
  static auto fields(auto& self) {
    return std::tie(self.spec, self.node, self.process, self.life, self.moves, self.started,
                    self.kept_bytes, self.losses);
  }
};

/// Whether a head may have stored this record.
bool is_sound(const ActorRecord& record);

}  // namespace forebay
