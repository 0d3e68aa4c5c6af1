#include "tools/terminal/terminal_events.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "core/base/clock.h"
#include "tools/process/end_process.h"
#include "tools/process/exit_status.h"
#include "tools/process/message.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/indexing_progress.h"
#include "tools/terminal/run_screen.h"

namespace forebay {
namespace {

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
  const auto progress = std::make_shared<IndexingProgress>(SystemClock().now());
  return {.say = print_message,
          .indexing =
              [progress](std::uint64_t done, std::uint64_t total) {
                if (auto line = progress->line(done, total, SystemClock().now()))
                  print_message(*line);
              },
          .view = [](const ViewedRun& viewed) { return std::make_unique<RunScreen>(viewed); },
          .stalled = end_stalled,
          .outgrown = end_outgrown,
          .stop = &StopRequest::source()};
}

}  // namespace forebay
