#pragma once

#include "core/base/result.h"
#include "engine/ranks/rank_follower.h"
#include "trainer/model.h"

namespace forebay {

/// How a run ended for a rank that followed.
struct Followed {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;  ///< Of this rank.
  int signal = 0;          ///< That stopped all; 0: none.
};

/// Carries out rank 0's orders until the run is over: fails with what failed here or there.
Result<Followed> follow(RankFollower& leader, Model& model);

}  // namespace forebay
