#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "tools/job/job_spec.h"
#include "tools/ranks/rank_environment.h"
#include "trainer/collective.h"

namespace forebay {

/// Refuses what ranks cannot do with a job, before anyone is met.
Status check_ranks(const JobSpec& job, const RankEnvironment& environment);

/// Where rank 0 listens for the others: on loopback where all are on its machine.
std::string listen_address(const RankEnvironment& environment);

/// The ranks, met, and what rank 0 told.
struct RankMeeting {
  std::unique_ptr<Collective> ranks;
  std::string address;  ///< "HOST:PORT" of rank 0's link, as the others reach it.
};

/// Meets the other ranks through libtorch, before any thread is started. Rank 0 listens at
/// `address`. Refuses, on every rank, a rank with another job file or version, by its number.
/// Waits no longer once `stop` is set; libtorch may then still be at it, so that the process has
/// to end without destructors.
Result<RankMeeting> meet_ranks(const JobSpec& job, const RankEnvironment& environment,
                               const std::string& address, const std::atomic<bool>& stop);

}  // namespace forebay
