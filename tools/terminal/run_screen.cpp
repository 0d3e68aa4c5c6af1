#include "tools/terminal/run_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/base/printable.h"
#include "core/base/seconds.h"
#include "engine/process/memory_use.h"
#include "tools/process/message.h"
#include "tools/terminal/stage_views.h"

namespace forebay {
namespace {

constexpr std::chrono::seconds kBetweenPlainLines{5};

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Returns the expected rows of the whole run.
std::uint64_t rows_wanted(const JobRun& run, const JobSpec& job) {
  const double kept = 1 - job.trainer.evaluate_share;
  const auto all = static_cast<std::uint64_t>(static_cast<double>(run.dataset().rows()) * kept) *
                   job.order.epochs;
  return all > run.begin().rows ? all - run.begin().rows : 0;
}

}  // namespace

RunScreen::RunScreen(ViewedRun viewed)
    : viewed_(std::move(viewed)),
      on_terminal_(::isatty(STDERR_FILENO) == 1),
      shown_at_(viewed_.run.started()) {}

void RunScreen::look() {
  const auto now = viewed_.run.clock().now();
  if (on_terminal_ || now - shown_at_ >= kBetweenPlainLines) show();
}

void RunScreen::show() {
  const std::string line = format_progress(view(viewed_.run.clock().now()));
  if (on_terminal_) {
    clear_line();
    std::fputs(fit_line(printable_message(line), terminal_columns() - 1).c_str(), stderr);
    line_shown_ = true;
  } else {
    viewed_.log(line);
    print_message(line);
  }
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

void RunScreen::clear_line() {
  if (line_shown_) std::fputs("\r\033[K", stderr);
  line_shown_ = false;
}

void RunScreen::say(const std::string& line) {
  clear_line();
  print_message(line);
}

}  // namespace forebay
