#pragma once

#include <string>
#include <vector>

#include "actors/input/store/storage_spec.h"
#include "engine/job/job_spec.h"
#include "engine/report/json_object.h"
#include "engine/run/job_run.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/store_probe.h"

namespace forebay {

/// What stores answer, and what it means for a run.
struct StoreChecks {
  std::vector<Finding> findings;
  std::vector<JsonObject> json;  ///< One object for each store.
  std::string object;            ///< The last one that was asked for; "": none.

  void add(const StoreAnswers& answers, int cpus);
};

/// Whether a path lies in a store or on a web server.
bool is_in_store(const std::string& path);

/// Judges what a store answered, for a pipeline on `cpus` CPUs. Pure.
std::vector<Finding> judge_store(const StoreAnswers& answers, int cpus);

JsonObject to_json(const StoreAnswers& answers);

/// Asks the store of `path`, after it has announced with how many requests.
StoreChecks check_store(const std::string& path, const StorageSpec& storage, int cpus,
                        const JobRun::Hooks& hooks);

/// Does the same for each store that the job's datasets name, four at most.
StoreChecks check_stores(const JobSpec& job, const JobRun::Hooks& hooks);

}  // namespace forebay
