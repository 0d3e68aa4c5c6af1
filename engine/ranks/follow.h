#pragma once

#include "core/base/result.h"
#include "engine/ranks/rank_follower.h"
#include "trainer/model.h"

namespace forebay {

/// Result of a run on a rank other than 0.
struct Followed {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;  ///< Rows of this rank.
  int signal = 0;          ///< The signal that stopped all ranks; 0: no signal.
};

/// Executes rank 0's commands until the run is over. Fails with the error of this rank or of rank
/// 0.
Result<Followed> follow(RankFollower& leader, Model& model);

}  // namespace forebay
