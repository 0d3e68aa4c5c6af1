#include "engine/job/job_rules.h"

#include <cstdint>
#include <string>

namespace forebay {
namespace {

Status check_evaluation(const JobSpec& job) {
  const TrainerSpec& trainer = job.trainer;
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, job.path + ": " + what);
  };
  if (!trainer.evaluate.empty() && trainer.evaluate_share > 0) {
    return refuse("trainer.evaluate and trainer.evaluate_share exclude each other; remove one");
  }
  if (trainer.evaluate_every > 0 && trainer.evaluate.empty() && trainer.evaluate_share == 0) {
    return refuse(
        "trainer.evaluate_every has no rows to evaluate on; set trainer.evaluate_share or "
        "trainer.evaluate, too");
  }
  if (trainer.early_stopping > 0 && trainer.evaluate_every == 0) {
    return refuse("trainer.early_stopping goes by evaluations; set trainer.evaluate_every, too");
  }
  return {};
}

}  // namespace

Status check_combinations(const JobSpec& job) {
  const auto refuse = [&](const std::string& what) {
    return fail(Code::kInvalid, job.path + ": " + what);
  };
  const bool csv = job.dataset.format == "csv";
  if (job.dataset.paths.empty()) {
    return refuse(
        "dataset.paths is missing; name the files to read, as in paths = [\"data/*.tsv\"]");
  }
  if (csv && job.columns.label.empty()) {
    return refuse(
        "columns.label is missing; with format = \"csv\" it names the column that holds 0 or 1");
  }
  if (csv && job.columns.dense.empty() && job.columns.sparse.empty()) {
    return refuse(
        "columns.dense and columns.sparse are missing; with format = \"csv\" they name what the "
        "model sees");
  }
  if (!job.dataset.csv.list_delimiter.empty() &&
      job.dataset.csv.list_delimiter.front() == job.dataset.csv.delimiter) {
    return refuse("dataset.csv.list_delimiter must differ from dataset.csv.delimiter");
  }
  if (auto checked = check_evaluation(job); !checked) return checked;
  const std::uint64_t actors = job.pipeline.total_actors();
  if (job.max_actors > 0 && actors > job.max_actors) {
    return refuse("pipeline.allocation has " + std::to_string(actors) +
                  " actors in all, but pipeline.max_actors allows " +
                  std::to_string(job.max_actors));
  }
  if (!job.cluster.local && job.cluster.listen.empty() && job.cluster.head.empty()) {
    return refuse("cluster.local = false, but no worker can join; set cluster.listen, too");
  }
  if (job.run.stall_fail < job.run.stall_after) {
    return refuse("run.stall_fail must be at least run.stall_after");
  }
  return {};
}

}  // namespace forebay
