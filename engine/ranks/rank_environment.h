#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"

namespace forebay {

/// The environment variables that a launcher such as torchrun sets for each trainer of a job.
struct RankEnvironment {
  int rank = 0;        ///< RANK
  int size = 1;        ///< WORLD_SIZE
  int local_rank = 0;  ///< LOCAL_RANK: number among this machine's ranks; RANK if it is not set.
  /// LOCAL_WORLD_SIZE: ranks on this machine. If it is not set: all ranks if MASTER_ADDR is a
  /// loopback address, else 1.
  int local_size = 1;
  bool one_machine = false;  ///< LOCAL_WORLD_SIZE is WORLD_SIZE: all ranks are on this machine.
  std::string host;          ///< MASTER_ADDR: host of rank 0.
  std::uint16_t port = 0;    ///< MASTER_PORT: port of the store by which ranks find each other.
  /// TORCHELASTIC_USE_AGENT_STORE: the launcher runs the store, not rank 0.
  bool launcher_store = false;
  std::string group;  ///< TORCHELASTIC_RUN_ID and _RESTART_COUNT: identify this start.

  using Variables = std::function<const char*(const char*)>;

  /// Returns nullopt if this is the only trainer: no such variable is set, or WORLD_SIZE is 1.
  /// Refuses invalid values and incomplete sets of variables, by name.
  static Result<std::optional<RankEnvironment>> read(const Variables& variable);

  /// Returns whether MASTER_ADDR is a loopback address, so that every rank is on this machine.
  bool host_is_local() const;

  /// Returns where the ranks meet; the collective uses `device`.
  CollectiveSpec meeting(std::chrono::milliseconds timeout, const std::string& device) const;
};

}  // namespace forebay
