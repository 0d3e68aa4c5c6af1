#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "engine/network/network_endpoint.h"

namespace forebay {

/// One rank of a run, and how it reaches the others.
struct RankOptions {
  int rank = 0;
  int size = 1;
  std::string group;             ///< Identifies the start that all ranks belong to.
  std::string keys;              ///< As `cluster.keys`.
  std::string alike = {};        ///< Text that must be equal on all ranks.
  std::string address = {};      ///< Rank 0: HOST:0 to listen on; others: RankLeader::address.
  std::uint64_t batch_size = 0;  ///< Of all ranks together. Not used by rank 0.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  /// Polled by all ranks but 0. The first result other than 0 is sent to rank 0.
  std::function<int()> stop_signal = {};
  /// Rank 0: a rank was asked to stop, on an actor's thread. Others: rank 0 was asked to stop
  /// before all ranks had met.
  std::function<void(int signal)> on_stop = {};
  std::function<void(const std::string&)> say = {};  ///< Receives a sentence for the user.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  /// Missed heartbeats after which a rank is lost. A rank on a busy machine may be delayed for a
  /// while, and its loss ends the run.
  int lost_after = 12;
};

/// Reads the keys and makes the rank's endpoint, which counts received bytes in `received`. Opens
/// no socket yet. `received` and `clock` outlive it.
Result<std::unique_ptr<NetworkEndpoint>> open_network(const RankOptions& options,
                                                      MemoryBudget& received, const Clock& clock);

}  // namespace forebay
