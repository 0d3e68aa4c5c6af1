#include "tools/terminal/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "core/base/text/counted.h"
#include "engine/job/quantity.h"
#include "engine/metrics/verdict.h"
#include "engine/report/json_object.h"
#include "engine/report/run_costs.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

Activity activity_of(const SummaryView& view) {
  return {.seconds = view.outcome.seconds,
          .rows = view.outcome.rows,
          .trained = view.consumer == SummaryView::Consumer::kTrainer,
          .starved_ratio = view.outcome.starved_ratio,
          .cpus_busy = view.outcome.cpus_busy,
          .cpus = view.cpus,
          .stages = view.stages};
}

int name_width(const std::vector<StageView>& stages) {
  std::size_t width = 10;
  for (const StageView& stage : stages) width = std::max(width, stage.name.size());
  return static_cast<int>(width);
}

std::string table_row(const StageView& stage, int width) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "  %-*s %6llu %7.0f %% %12.0f %% %12.0f %% %10llu  %s\n",
                width, stage.name.c_str(), static_cast<unsigned long long>(stage.actors),
                stage.busy_share * 100, stage.wait_input_share * 100, stage.wait_output_share * 100,
                static_cast<unsigned long long>(stage.splits), format_size(stage.bytes).c_str());
  return text.data();
}

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

/// `quarantine`: the file of the damaged rows.
JsonObject to_json(const Evaluated& evaluated, const std::string& quarantine) {
  JsonObject json;
  json.add("step", evaluated.step);
  return json.add_all(to_json(evaluated.quality))
      .add("rows", evaluated.quality.rows)
      .add("bad_rows", evaluated.bad_rows)
      .add("quarantine", evaluated.bad_rows > 0 ? quarantine : "");
}

/// Returns the share of table lookups whose row was in memory when the step could begin.
std::optional<double> ready_ratio(const LookupCounts& lookups) {
  if (lookups.all == 0) return {};
  return static_cast<double>(lookups.ready) / static_cast<double>(lookups.all);
}

/// Returns a line on energy, and one on money if the job has prices.
std::string describe_costs(const RunOutcome& outcome) {
  std::string text = describe_energy(outcome.energy, outcome.rows);
  if (!text.empty()) text += "\n";
  if (outcome.prices.any()) text += describe_money(money_of(outcome), outcome.rows) + "\n";
  return text;
}

}  // namespace

std::string name_bottleneck(const SummaryView& view) { return judge(activity_of(view)).sentence; }

/// Returns ` (by workers: 17, 3 MiB)`; "" without any.
std::string asked_by_workers(const RunOutcome& outcome) {
  if (outcome.asked_by_node.empty()) return "";
  RunOutcome::Asked sum;
  for (const auto& [node, asked] : outcome.asked_by_node) {
    sum.requests += asked.requests;
    sum.bytes += asked.bytes;
  }
  return " (by workers: " + format_count(sum.requests) + ", " + format_size(sum.bytes) + ")";
}

std::string format_summary(const SummaryView& view) {
  std::string text =
      format_count(view.outcome.rows) + " rows in " + format_count(view.outcome.batches) +
      " batches, " +
      format_duration(
          std::chrono::nanoseconds(static_cast<std::int64_t>(view.outcome.seconds * 1e9))) +
      ", " + format_count(static_cast<std::uint64_t>(view.outcome.rows_per_second())) + " rows/s\n";
  text += "starved " + format_percent(view.outcome.starved_ratio) + " of the time, peak memory " +
          format_size(view.outcome.peak_memory_bytes) + " of " +
          format_size(view.outcome.memory_limit) + ", " + format_number(view.outcome.cpus_busy, 1) +
          " of " + std::to_string(view.cpus) + " CPUs busy\n";
  text += format_count(view.outcome.requests) + " requests to files and stores, " +
          format_size(view.outcome.bytes_read) + " read" + asked_by_workers(view.outcome) + "\n";
  if (!view.outcome.stats.repeats.empty()) {
    text += "columns of columns.dedup: each value came " +
            format_number(view.outcome.dedup_ratio, 1) + " times in a row and was stored once\n";
  }
  text += describe_costs(view.outcome);
  const int width = name_width(view.stages);
  text += "  stage" + std::string(static_cast<std::size_t>(width) - 5, ' ') +
          " actors      busy  waits: input  waits: output     splits  bytes in\n";
  for (const StageView& stage : view.stages) text += table_row(stage, width);
  if (view.outcome.decisions > 0) {
    text +=
        "tuner: " + format_counted(view.outcome.decisions, "decision: ", "decisions, the last: ") +
        view.outcome.last_decision + "\n";
  }
  return text + name_bottleneck(view) + "\n";
}

std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer) {
  return format_summary({.outcome = outcome,
                         .cpus = static_cast<std::uint64_t>(job.pipeline.cpus),
                         .stages = stage_views({}, outcome.stats),
                         .consumer = consumer});
}

void print_report_as_json(const TrainReport& report) {
  JsonObject json = to_json(report.outcome);
  if (report.learns) json.add("loss", report.loss).add("trainer_threads", report.threads);
  if (auto ready = ready_ratio(report.lookups)) json.add("table_lookups_ready", ready);
  if (report.quality) json.add_all(to_json(*report.quality));
  const auto to_object = [&](const Evaluated& evaluated) {
    return to_json(evaluated, report.evaluation_quarantine);
  };
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
