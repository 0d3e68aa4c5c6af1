#pragma once

#include "tools/command/command.h"
#include "tools/job/job_spec.h"
#include "tools/ranks/rank_environment.h"

namespace forebay {

/// `forebay train` on every rank but 0: opens no data and keeps no files; trains on the rows that
/// rank 0 deals it until that one ends the run. Says one line at its end.
Exit run_following(JobSpec job, const RankEnvironment& ranks);

}  // namespace forebay
