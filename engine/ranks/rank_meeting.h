#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/ranks/rank_environment.h"
#include "engine/ranks/rank_follower.h"
#include "engine/ranks/rank_leader.h"
#include "trainer/collective.h"

namespace forebay {

/// Refuses jobs that ranks do not support, before any connection is made.
Status check_ranks(const JobSpec& job, const RankEnvironment& environment);

/// Returns the address on which rank 0 listens for the others: loopback if all ranks are on its
/// machine.
std::string listen_address(const RankEnvironment& environment);

/// Returns everything that must be equal on all ranks, in one line.
std::string alike(const JobSpec& job);

/// Connects rank 0 with the other ranks, before any thread of the model is started: it writes the
/// leader's address into the ranks' store, waits until all ranks have connected to it, and makes
/// each rank connect to all others.
///
/// Fails with the number of a rank that is lost (kUnavailable) or does not connect (kTimeout), and
/// if a rank has another job file or version (kInvalid); the caller informs the other ranks
/// (RankLeader::end). Ends the wait once `stop` is set. After a failure libtorch may still be
/// waiting on a thread, so the process must end without destructors.
Result<std::unique_ptr<Collective>> meet_followers(const JobSpec& job,
                                                   const RankEnvironment& environment,
                                                   RankLeader& leader,
                                                   const std::atomic<bool>& stop);

/// A follower's connections to the other ranks.
struct MetLeader {
  std::unique_ptr<Collective> ranks;  ///< Outlives the network.
  std::unique_ptr<RankFollower> leader;
};

/// Does the same on every other rank. Sets the address in `options`.
Result<MetLeader> meet_leader(const JobSpec& job, const RankEnvironment& environment,
                              RankOptions options, const Clock& clock,
                              const std::atomic<bool>& stop);

}  // namespace forebay
