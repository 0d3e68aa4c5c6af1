#include "engine/run/run_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/printable.h"
#include "engine/metrics/status_report.h"
#include "engine/process/end_process.h"
#include "engine/process/memory_use.h"
#include "engine/process/message.h"
#include "engine/process/stop_request.h"
#include "engine/report/summary.h"
#include "engine/run/indexing_progress.h"
#include "engine/run/stage_views.h"
#include "engine/trace/history_text.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kBetweenPlainLines{5};

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Rows of the whole run, as far as they can be known before.
std::uint64_t rows_wanted(const JobRun& run, const JobSpec& job) {
  const double kept = 1 - job.trainer.evaluate_share;
  const auto all = static_cast<std::uint64_t>(static_cast<double>(run.dataset().rows()) * kept) *
                   job.order.epochs;
  return all > run.begin().rows ? all - run.begin().rows : 0;
}

}  // namespace

JobRun::Hooks RunScreen::opening() {
  const auto announce = [](const std::string& line) { print_message(line); };
  const auto progress = std::make_shared<IndexingProgress>(SystemClock().now());
  return {.announce = announce,
          .indexing =
              [announce, progress](std::uint64_t done, std::uint64_t total) {
                if (auto line = progress->line(done, total, SystemClock().now())) announce(*line);
              },
          .stopped = [] { return StopRequest::requested(); }};
}

RunScreen::RunScreen(JobRun& run, const JobSpec& job, const std::string& command, Tuning* tuning,
                     Cluster cluster)
    : run_(run),
      job_(job),
      tuning_(tuning),
      command_(command),
      cluster_(std::move(cluster)),
      nobody_trains_(command == "ingest"),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      log_(job.run.dir, command),
      began_(run.started()),
      cpu_seconds_at_start_(process_cpu_seconds()),
      shown_at_(began_) {
  open_windows();
  log_.write(command + " " + job.path + " begins at batch " + std::to_string(run.begin().batches));
  monitor_ = std::make_unique<RunMonitor>(
      run_, job_.run,
      RunMonitor::Hooks{.show_progress = [this] { look(); },
                        .warn = [this](const std::string& what) { say(what); },
                        .give_up =
                            [this](const std::string& what) {
                              say(what);
                              std::fflush(nullptr);
                              end_process(Exit::kFailed);
                            }});
  watch_memory();
}

// What is wrong is said on the watch's own thread, past what the monitor may be busy with, and ends
// the process at once: the function at fault may never return.
void RunScreen::watch_memory() {
  run_.memory_watch().watch(
      {.limit =
           [this] { return tuning_ != nullptr ? tuning_->memory() : job_.pipeline.memory_bytes; },
       .fail =
           [this](const std::string& what) {
             if (on_terminal_) std::fputs("\r\033[K", stderr);
             print_message(what);
             log_.write(what);
             end_process(Exit::kFailed);
           }});
}

RunScreen::~RunScreen() { end(); }

// What asks here does so on threads of its own: end() closes both before anything it reads is gone.
void RunScreen::open_windows() {
  if (tuning_ == nullptr) return;
  tuning_->show({.status = [this] { return status_of(figures()).text(); },
                 .trace =
                     [this] {
                       return history_text(
                           {.now = run_.clock().now(), .splits = run_.pipeline().history()});
                     }});
  if (job_.cluster.metrics.empty()) return;
  auto server = MetricsServer::open("cluster.metrics", job_.cluster.metrics,
                                    [this] { return metrics_of(figures()); });
  if (!server) {
    say(server.error().message);
    return;
  }
  metrics_ = std::move(*server);
  say("metrics: " + metrics_->url());
}

RunFigures RunScreen::figures() const {
  RunFigures figures;
  figures.command = command_;
  figures.elapsed = run_.clock().now() - began_;
  figures.rows = run_.source().rows();
  figures.batches = run_.source().batches();
  figures.steps = run_.source().steps();
  figures.waited = run_.source().waited();
  figures.worked = run_.source().worked();
  figures.memory_bytes = resident_bytes();
  figures.memory_limit = memory_limit();
  figures.decisions = tuning_->decisions();
  figures.tuner_cpu_seconds = tuning_->cpu_seconds();
  figures.last_decision = tuning_->last_decision();
  figures.pipeline = run_.pipeline().stats();
  if (cluster_) figures.cluster = cluster_();
  return figures;
}

void RunScreen::note(const std::string& line) {
  noted_([&] { notes_.push_back(line); });
}

void RunScreen::looked_up(const LookupCounts& lookups) {
  noted_([&] { lookups_ = lookups; });
}

void RunScreen::say_notes() {
  const auto notes = noted_([this] { return std::exchange(notes_, {}); });
  for (const std::string& line : notes) say(line);
  if (tuning_ == nullptr) return;
  for (const std::string& line : tuning_->take_notes()) say(line);
}

void RunScreen::look() {
  say_notes();
  if (!stop_passed_on_ && StopRequest::requested()) {
    stop_passed_on_ = true;
    run_.stop();
  }
  if (on_terminal_ || run_.clock().now() - shown_at_ >= kBetweenPlainLines) show();
}

void RunScreen::show() {
  const std::string line = format_progress(view(run_.clock().now()));
  if (on_terminal_) {
    clear_line();
    std::fputs(fit_line(printable_message(line), terminal_columns() - 1).c_str(), stderr);
    line_shown_ = true;
  } else {
    say(line);
  }
}

ProgressView RunScreen::view(std::chrono::nanoseconds now) {
  PipelineStats stats = run_.pipeline().stats();
  const double seconds = in_seconds(now - shown_at_);
  const std::uint64_t rows = run_.source().rows();
  const auto waited = run_.source().waited();
  ProgressView view;
  view.rows = rows;
  view.rows_wanted = rows_wanted(run_, job_);
  view.rows_per_second = static_cast<double>(rows - shown_rows_) / seconds;
  view.starved_ratio = std::clamp(in_seconds(waited - shown_waited_) / seconds, 0.0, 1.0);
  view.memory_bytes = resident_bytes();
  view.memory_limit = memory_limit();
  view.stages = stage_views(shown_stats_, stats);
  if (tuning_ != nullptr) view.tuner = tuning_->last_decision();
  const LookupCounts lookups = noted_([this] { return lookups_; });
  if (lookups.all > shown_lookups_.all) {
    view.lookups_ready = static_cast<double>(lookups.ready - shown_lookups_.ready) /
                         static_cast<double>(lookups.all - shown_lookups_.all);
  }
  shown_lookups_ = lookups;
  shown_at_ = now;
  shown_rows_ = rows;
  shown_waited_ = waited;
  shown_stats_ = std::move(stats);
  return view;
}

std::uint64_t RunScreen::memory_limit() const {
  return tuning_ != nullptr ? tuning_->limits().memory_bytes : job_.pipeline.memory_bytes;
}

void RunScreen::clear_line() {
  if (line_shown_) std::fputs("\r\033[K", stderr);
  line_shown_ = false;
}

void RunScreen::say(const std::string& line) {
  clear_line();
  print_message(line);
  log_.write(line);
}

void RunScreen::stream_ended() {
  ended_ = run_.clock().now();
  cpu_seconds_at_end_ = process_cpu_seconds();
  stats_at_end_ = run_.pipeline().stats();
}

void RunScreen::end() {
  if (!monitor_) return;
  if (tuning_ != nullptr) tuning_->show({});
  metrics_.reset();
  run_.memory_watch().stop();
  monitor_.reset();
  say_notes();
  clear_line();
}

std::string RunScreen::summary(const RunOutcome& outcome) const {
  SummaryView view;
  view.rows = outcome.rows;
  view.batches = outcome.batches;
  view.seconds = outcome.seconds;
  view.starved_ratio = outcome.starved_ratio;
  view.peak_memory_bytes = outcome.peak_memory_bytes;
  view.memory_limit = memory_limit();
  view.cpus = static_cast<std::uint64_t>(job_.pipeline.cpus);
  if (tuning_ != nullptr) {
    view.decisions = tuning_->decisions();
    view.tuner = tuning_->last_decision();
  }
  view.cpus_busy =
      outcome.seconds > 0 ? (cpu_seconds_at_end_ - cpu_seconds_at_start_) / outcome.seconds : 0;
  view.stages = stage_views({}, stats_at_end_);
  view.consumer = nobody_trains_ ? SummaryView::Consumer::kNobody : SummaryView::Consumer::kTrainer;
  return format_summary(view);
}

Exit leave(const Exit& exit) {
  std::fflush(stdout);
  if (!exit.message.empty()) print_message(exit.message);
  std::fflush(nullptr);
  end_process(exit.status);
}

}  // namespace forebay
