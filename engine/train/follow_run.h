#pragma once

#include "engine/job/job_spec.h"
#include "engine/process/exit_status.h"
#include "engine/ranks/rank_environment.h"

namespace forebay {

/// `forebay train` on every rank but 0: opens no data and keeps no files; trains on the rows that
/// rank 0 deals it until that one ends the run. Says one line at its end.
Exit run_following(JobSpec job, const RankEnvironment& ranks);

}  // namespace forebay
