#include "tools/terminal/terminal_events.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "actors/pipeline.h"
#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "engine/process/memory_use.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/progress.h"

namespace forebay {
namespace {

/// Returns the expected rows of the whole run.
std::uint64_t rows_wanted(const JobRun& run, const JobSpec& job) {
  const double kept = 1 - job.trainer.evaluate_share;
  const auto all = static_cast<std::uint64_t>(static_cast<double>(run.dataset().rows()) * kept) *
                   job.order.epochs;
  return all > run.begin().rows ? all - run.begin().rows : 0;
}

/// Shows a run's progress on stderr: one live line on a terminal; otherwise a plain line every few
/// seconds, which is also written to the log.
class RunScreen final : public RunView {
 public:
  explicit RunScreen(ViewedRun viewed);

  void look() override;
  void say(const std::string& line) override;

 private:
  ProgressView view(std::chrono::nanoseconds now);

  const ViewedRun viewed_;
  StatusLine line_;
  std::chrono::nanoseconds shown_at_;  // this and below: at the last line shown
  std::uint64_t shown_rows_ = 0;
  std::chrono::nanoseconds shown_waited_{0};
  LookupCounts shown_lookups_;
  PipelineStats shown_stats_;
};

RunScreen::RunScreen(ViewedRun viewed)
    : viewed_(std::move(viewed)), shown_at_(viewed_.run.started()) {}

void RunScreen::look() {
  if (!line_.is_due()) return;
  const std::string line = format_progress(view(viewed_.run.clock().now()));
  if (!line_.on_terminal()) viewed_.log(line);
  line_.show(line);
}

ProgressView RunScreen::view(std::chrono::nanoseconds now) {
  PipelineStats stats = viewed_.run.pipeline().stats();
  const double seconds = in_seconds(now - shown_at_);
  const std::uint64_t rows = viewed_.run.source().rows();
  const auto waited = viewed_.run.source().waited();
  ProgressView view;
  view.rows = rows;
  view.rows_wanted = rows_wanted(viewed_.run, viewed_.job);
  view.rows_per_second = static_cast<double>(rows - shown_rows_) / seconds;
  view.starved_ratio = std::clamp(in_seconds(waited - shown_waited_) / seconds, 0.0, 1.0);
  view.memory_bytes = resident_bytes();
  view.memory_limit = viewed_.memory_limit();
  view.stages = stage_views(shown_stats_, stats);
  view.tuner = viewed_.last_decision();
  const LookupCounts lookups = viewed_.lookups();
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

void RunScreen::say(const std::string& line) {
  line_.clear();
  print_message(line);
}

/// What a command shows before its run begins. Any thread may call it.
class StartScreen {
 public:
  void say(const std::string& line) {
    shown_.change([&](Shown& shown) {
      shown.line.clear();
      print_message(line);
    });
  }
  void indexed(std::uint64_t done, std::uint64_t total) {
    const auto now = SystemClock().now();
    shown_.change([&](Shown& shown) {
      shown.progress.add(done, total, now);
      if (done >= total) return shown.line.clear();
      if (shown.line.is_due()) shown.line.show(shown.progress.line(now));
    });
  }
  void clear() {
    shown_.change([](Shown& shown) { shown.line.clear(); });
  }

 private:
  struct Shown {
    IndexingProgress progress;
    StatusLine line;
  };
  Synchronized<Shown> shown_;
};

/// Does not wait for the screen or a buffer, since the responsible function may never return.
void end_outgrown(const std::string& why) {
  if (::isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
  print_message(why);
  end_process(Exit::kFailed);
}

void end_stalled(const std::string&) {
  std::fflush(nullptr);
  end_process(Exit::kFailed);
}

}  // namespace

RunEvents terminal_events() {
  const auto start = std::make_shared<StartScreen>();
  return {
      .say = [start](const std::string& line) { start->say(line); },
      .indexing = [start](std::uint64_t done, std::uint64_t total) { start->indexed(done, total); },
      .view =
          [start](const ViewedRun& viewed) {
            start->clear();
            return std::make_unique<RunScreen>(viewed);
          },
      .stalled = end_stalled,
      .outgrown = end_outgrown,
      .stop = &StopRequest::source(),
      .counts = std::make_shared<IoCounts>()};
}

}  // namespace forebay
