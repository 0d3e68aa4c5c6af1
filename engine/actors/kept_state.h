#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <forebay/actor.h>

#include "engine/actors/user_message.h"

namespace forebay {

/// What one kept state may take.
inline constexpr std::size_t kMostKeptBytes = std::size_t{16} << 20;

/// The state that one actor has kept last, as bytes. Outlives the actor's crashes, and holds the
/// bytes of it in memory.
///
/// Used by one thread at a time: first by that which starts the actor, then on the actor's turns.
class KeptState {
 public:
  using Bytes = std::vector<std::byte>;
  using Done = std::function<void(Status)>;
  /// Copies a state to a safe place, and calls `done` once, on any thread.
  using Copy = std::function<void(const Bytes& state, Done done)>;

  KeptState() = default;
  /// `last`: what an earlier actor has kept; empty if nothing.
  KeptState(Bytes last, Copy copy) : last_(std::move(last)), copy_(std::move(copy)) {}

  /// Keeps `state`. kInvalid: it is too large or holds references; then the state before it stays.
  void keep(const actors::Box& state, Done done);

  /// The actor lives elsewhere by now: what still waits for this copy is refused. Any thread.
  void fence() { fenced_.store(true, std::memory_order_relaxed); }
  bool is_fenced() const { return fenced_.load(std::memory_order_relaxed); }

  /// Gives the state, if there is one, to a new actor. kCorrupt: it is none of the actor's type.
  Status load_into(actors::ActorObject& object) const;

 private:
  Bytes last_;  // no packed value is empty
  Copy copy_;   // empty: the state is kept in memory only
  std::atomic<bool> fenced_{false};
};

using KeptStatePtr = std::shared_ptr<KeptState>;

}  // namespace forebay
