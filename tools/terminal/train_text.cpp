#include "tools/terminal/train_text.h"

#include <cstdio>
#include <optional>
#include <vector>

#include "engine/report/json_object.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/summary.h"

namespace forebay {
namespace {

// Absent figures are left out: null would mean that the value cannot be represented.
JsonObject to_json(const Quality& quality) {
  JsonObject json;
  if (quality.auc) {
    json.add("auc", quality.auc);
    if (quality.auc_error > 0) json.add("auc_error", quality.auc_error);
  }
  if (quality.log_loss) json.add("log_loss", quality.log_loss);
  if (quality.normalized_entropy) json.add("normalized_entropy", quality.normalized_entropy);
  if (quality.calibration) json.add("calibration", quality.calibration);
  return json;
}

JsonObject to_json(const Evaluated& evaluated) {
  JsonObject json;
  json.add("step", evaluated.step);
  return json.add_all(to_json(evaluated.quality)).add("rows", evaluated.quality.rows);
}

/// Returns the share of table lookups whose row was in memory when the step could begin.
std::optional<double> ready_ratio(const LookupCounts& lookups) {
  if (lookups.all == 0) return {};
  return static_cast<double>(lookups.ready) / static_cast<double>(lookups.all);
}

}  // namespace

void print_report_as_json(const TrainReport& report) {
  JsonObject json = to_json(report.outcome);
  if (report.learns) json.add("loss", report.loss).add("trainer_threads", report.threads);
  if (auto ready = ready_ratio(report.lookups)) json.add("table_lookups_ready", ready);
  if (report.quality) json.add_all(to_json(*report.quality));
  const auto to_object = [](const Evaluated& evaluated) { return to_json(evaluated); };
  if (report.learns) json.add("evaluations", report.evaluations, to_object);
  if (report.best_step) json.add("best_step", *report.best_step);
  if (report.learns) json.add("stopped_early", report.stopped_early);
  if (report.saved) {
    json.add("checkpoint", report.saved->checkpoint);
    json.add("batches_lost", report.saved->batches_lost);
  }
  print_json(json);
}

void print_report(const TrainReport& report, const JobSpec& job) {
  std::fputs(summary_of(report.outcome, job, SummaryView::Consumer::kTrainer).c_str(), stdout);
  if (report.loss) std::printf("loss %.6f\n", *report.loss);
  if (auto ready = ready_ratio(report.lookups); ready && *ready < 1) {
    std::printf("%.2f%% of table lookups were ready when their step could begin\n", 100 * *ready);
  }
  if (report.quality) {
    std::printf("%s on %llu rows held out\n", describe(*report.quality).c_str(),
                static_cast<unsigned long long>(report.quality->rows));
  }
  if (report.stopped_early) {
    std::printf("stopped early: no evaluation was better than that after step %llu\n",
                static_cast<unsigned long long>(report.best_step.value_or(0)));
  }
}

}  // namespace forebay
