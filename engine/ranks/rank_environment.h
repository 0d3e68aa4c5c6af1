#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "trainer/collective.h"

namespace forebay {

/// What a launcher such as torchrun says to each trainer of a job, by variables of the environment.
struct RankEnvironment {
  int rank = 0;              ///< RANK
  int size = 1;              ///< WORLD_SIZE
  int local_rank = 0;        ///< LOCAL_RANK: which of this machine's; RANK where it is not set.
  int local_size = 1;        ///< LOCAL_WORLD_SIZE: ranks on this machine. Where it is not set:
                             ///< all of them when rank 0 is reached by loopback, else 1.
  bool one_machine = false;  ///< LOCAL_WORLD_SIZE is WORLD_SIZE: all ranks are on this machine.
  std::string host;          ///< MASTER_ADDR: where rank 0 is.
  std::uint16_t port = 0;    ///< MASTER_PORT: of the store by which ranks find each other.
  bool launcher_store =
      false;          ///< TORCHELASTIC_USE_AGENT_STORE: the launcher serves it, not rank 0.
  std::string group;  ///< TORCHELASTIC_RUN_ID and _RESTART_COUNT: which start this is.

  using Variables = std::function<const char*(const char*)>;

  /// Nothing when this is the only trainer: no such variable is set, or WORLD_SIZE is 1. Refuses
  /// values that make no sense, and some without the others, by name.
  static Result<std::optional<RankEnvironment>> read(const Variables& variable);

  /// Whether MASTER_ADDR is a loopback address, so that every rank is on this machine.
  bool host_is_local() const;

  /// Where to meet, on `device`.
  CollectiveSpec meeting(std::chrono::milliseconds timeout, const std::string& device) const;
};

}  // namespace forebay
