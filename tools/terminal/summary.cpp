#include "tools/terminal/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr double kHardlyStarved = 0.05;
constexpr double kAllCpus = 0.9;
constexpr double kBusy = 0.7;

std::string actors_of(const StageView& stage) {
  return stage.actors == 1 ? "its 1 actor was"
                           : "its " + std::to_string(stage.actors) + " actors were";
}

// Returns actor-seconds of work per second: the load of a stage on the machine.
double load_of(const StageView& stage) {
  return stage.busy_share * static_cast<double>(stage.actors);
}

std::string describe_queue(const StageView& stage) {
  if (stage.queued == 0) return "";
  return " and " + std::to_string(stage.queued) + (stage.queued == 1 ? " split" : " splits") +
         " waited for it";
}

std::string blame_cpus(const SummaryView& view, const StageView& heaviest) {
  double all = 0;
  for (const StageView& stage : view.stages) all += load_of(stage);
  return "not enough CPUs: " + format_number(view.outcome.cpus_busy, 1) + " of " +
         std::to_string(view.cpus) + " were busy, and " + heaviest.name + " took " +
         format_percent(load_of(heaviest) / all) +
         " of the stages' work; give the run more CPUs or make " + heaviest.name + " cheaper";
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

}  // namespace

std::string name_bottleneck(const SummaryView& view) {
  if (view.stages.empty() || view.outcome.rows == 0)
    return "no rows came through; there is no bottleneck to name";
  const bool trained = view.consumer == SummaryView::Consumer::kTrainer;
  if (trained && view.outcome.starved_ratio < kHardlyStarved) {
    return "the trainer is the bottleneck: it waited for data " +
           format_percent(view.outcome.starved_ratio) +
           " of the time; a faster model or more CPUs for it would help, more actors would not";
  }
  const auto by_load = [](const StageView& a, const StageView& b) {
    return load_of(a) < load_of(b);
  };
  const auto by_share = [](const StageView& a, const StageView& b) {
    return a.busy_share < b.busy_share;
  };
  const bool cpus_full =
      view.cpus > 0 && view.outcome.cpus_busy >= kAllCpus * static_cast<double>(view.cpus);
  const StageView& heaviest = *std::max_element(view.stages.begin(), view.stages.end(), by_load);
  if (cpus_full && load_of(heaviest) > 0) return blame_cpus(view, heaviest);
  const StageView& busiest = *std::max_element(view.stages.begin(), view.stages.end(), by_share);
  if (busiest.busy_share < kBusy) {
    return "no stage was the bottleneck: " + busiest.name + ", the busiest, worked " +
           format_percent(busiest.busy_share) + " of the time" +
           (trained ? "; a run this short, or a small memory limit, leaves actors waiting for each "
                      "other"
                    : "");
  }
  const bool waits = busiest.cpu_share < 0.5;
  if (busiest.name == "batch") {
    return "batch is the bottleneck: the one actor that cuts batches in order was busy " +
           format_percent(busiest.busy_share) +
           " of the time; fewer columns or a faster core would help";
  }
  return busiest.name + " is the bottleneck: " + actors_of(busiest) + " busy " +
         format_percent(busiest.busy_share) + " of the time" + describe_queue(busiest) +
         (waits ? "; it hardly used a CPU, so it waited for the disk: more actors of it may help"
                : "; give it more actors (pipeline.allocation." + busiest.name + ")");
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
  const int width = name_width(view.stages);
  text += "  stage" + std::string(static_cast<std::size_t>(width) - 5, ' ') +
          " actors      busy  waits: input  waits: output     splits  bytes in\n";
  for (const StageView& stage : view.stages) text += table_row(stage, width);
  if (view.outcome.decisions > 0) {
    text += "tuner: " + format_count(view.outcome.decisions) +
            (view.outcome.decisions == 1 ? " decision: " : " decisions, the last: ") +
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

}  // namespace forebay
