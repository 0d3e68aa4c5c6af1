#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/runtime/pool/actor_meter.h"

namespace forebay {

/// The current state of one actor of a pool.
struct PoolActorView {
  std::uint32_t number = 0;  ///< As in its thread's name; never reused in this pool.
  ActorState state = ActorState::kIdle;
  std::chrono::nanoseconds since{0};  ///< Start of the state, by the pool's clock.
  std::uint64_t key = 0;              ///< Key of the current message, unless idle.
};

/// The state of a pool at one moment. A value.
struct PoolStats {
  std::size_t actors = 0;           ///< Threads alive, including retiring ones.
  std::size_t retiring = 0;         ///< Asked to retire; may be finishing a message.
  std::size_t queued_messages = 0;  ///< In the mailbox.
  std::size_t queued_bytes = 0;
  std::size_t mailbox_bytes = 0;   ///< The limit.
  std::size_t waiting_offers = 0;  ///< Threads that wait for space in the mailbox.
  std::uint64_t failures = 0;
  ActorTotals totals;               ///< Over all actors that ever lived in the pool.
  std::vector<PoolActorView> each;  ///< Each living actor.
};

}  // namespace forebay
