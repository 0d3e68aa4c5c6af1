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

/// Refuses what ranks cannot do with a job, before anyone is met.
Status check_ranks(const JobSpec& job, const RankEnvironment& environment);

/// Where rank 0 listens for the others: on loopback where all are on its machine.
std::string listen_address(const RankEnvironment& environment);

/// What has to be the same on all ranks, in one line.
std::string alike(const JobSpec& job);

/// Rank 0 meets the others, before any thread of the model is started: it puts the leader's address
/// into the ranks' store, waits until all have come there, and has each connect to all others.
///
/// Fails with the number of a rank that is lost (kUnavailable) or does not come (kTimeout), and
/// where one has another job file or version (kInvalid); the caller tells the others
/// (RankLeader::end). Waits no longer once `stop` is set. After a failure libtorch may still be at
/// it, so that the process has to end without destructors.
Result<std::unique_ptr<Collective>> meet_followers(const JobSpec& job,
                                                   const RankEnvironment& environment,
                                                   RankLeader& leader,
                                                   const std::atomic<bool>& stop);

/// The other ranks, met by one that follows.
struct MetLeader {
  std::unique_ptr<Collective> ranks;  ///< Outlives the link.
  std::unique_ptr<RankFollower> leader;
};

/// The same on every other rank. Of `options`, the address is found here.
Result<MetLeader> meet_leader(const JobSpec& job, const RankEnvironment& environment,
                              RankFollower::Options options, const Clock& clock,
                              const std::atomic<bool>& stop);

}  // namespace forebay
