#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/runtime/actor_meter.h"

namespace forebay {

/// What one actor of a pool is doing right now.
struct PoolActorView {
  std::uint32_t number = 0;  ///< As in its thread's name; never used again in this pool.
  ActorState state = ActorState::kIdle;
  std::chrono::nanoseconds since{0};  ///< Of the pool's clock.
  std::uint64_t key = 0;              ///< Of the message held, unless idle.
};

/// A pool at one moment. A value.
struct PoolStats {
  std::size_t actors = 0;           ///< Threads alive, those that retire included.
  std::size_t retiring = 0;         ///< Told to go, still finishing a message.
  std::size_t queued_messages = 0;  ///< In the mailbox.
  std::size_t queued_bytes = 0;
  std::size_t mailbox_bytes = 0;   ///< The bound.
  std::size_t waiting_offers = 0;  ///< Threads that wait for room in the mailbox.
  std::uint64_t failures = 0;
  ActorTotals totals;               ///< Over all actors that ever lived here.
  std::vector<PoolActorView> each;  ///< The living ones.
};

}  // namespace forebay
