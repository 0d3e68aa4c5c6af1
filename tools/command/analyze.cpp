#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "engine/analyze/analysis.h"
#include "engine/analyze/analysis_report.h"
#include "engine/job/quantity.h"
#include "engine/outputs/job_files.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/progress.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

constexpr double kLeastSeconds = 1;
constexpr double kMostSeconds = 24 * 3600;

/// Reads `10`, `10s`, `2m`.
Result<std::chrono::nanoseconds> read_length(const Invocation& invocation) {
  std::chrono::nanoseconds length = std::chrono::seconds(20);
  const auto parse = [](const std::string& text) -> std::optional<std::chrono::nanoseconds> {
    const auto time = parse_duration(text);
    if (!time || in_seconds(*time) < kLeastSeconds || in_seconds(*time) > kMostSeconds) return {};
    return time;
  };
  auto read = OptionReader(invocation)
                  .value("--seconds", length, "a time from 1s to 24h, such as 20 or 2m", parse)
                  .status();
  if (!read) return pass(read);
  return length;
}

}  // namespace

Exit run_analyze(const Invocation& invocation) {
  const auto length = read_length(invocation);
  if (!length) return Exit::refused(length.error());
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  const auto guarded = guard_inputs(inputs_of(*job), outputs_of(*job, "ingest"), print_message);
  if (!guarded) return Exit::refused(guarded.error());
  const RunEvents events = terminal_events();
  StatusLine line;
  const auto show = [&line](const std::string& text) {
    if (line.is_due()) line.show(text);
  };
  auto analysis = analyze(
      *job,
      {.length = *length, .events = events, .progress = show, .program = own_path().value_or("")});
  line.clear();
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!analysis) return Exit::unprepared(analysis.error());
  return print_result(invocation, to_json(*analysis),
                      [&] { std::fputs(format_analysis(*analysis).c_str(), stdout); });
}

}  // namespace forebay
