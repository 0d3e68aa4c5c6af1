#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "actors/pipeline.h"
#include "engine/run/run_events.h"
#include "tools/terminal/progress.h"

namespace forebay {

/// Shows a run's progress on stderr: one live line on a terminal; otherwise a plain line every few
/// seconds, which is also written to the log.
class RunScreen final : public RunView {
 public:
  explicit RunScreen(ViewedRun viewed);
  ~RunScreen() override { clear_line(); }

  void look() override;
  void say(const std::string& line) override;

 private:
  void show();
  void clear_line();
  ProgressView view(std::chrono::nanoseconds now);

  const ViewedRun viewed_;
  const bool on_terminal_;
  bool line_shown_ = false;
  std::chrono::nanoseconds shown_at_;  // this and below: at the last line shown
  std::uint64_t shown_rows_ = 0;
  std::chrono::nanoseconds shown_waited_{0};
  LookupCounts shown_lookups_;
  PipelineStats shown_stats_;
};

}  // namespace forebay
