#include "tools/run/run_screen.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "tools/process/stop_request.h"

namespace forebay {

JobRun::Hooks RunScreen::opening() {
  return {.announce = [](const std::string& line) { std::fprintf(stderr, "forebay: %s\n", line.c_str()); },
          .indexing = nullptr,
          .stopped = [] { return StopRequest::requested(); }};
}

RunScreen::RunScreen(JobRun& run, const JobSpec& job, std::string command)
    : run_(run), job_(job), command_(std::move(command)), began_(run.clock().now()) {
  const auto say = [](const std::string& line) { std::fprintf(stderr, "forebay: %s\n", line.c_str()); };
  monitor_ = std::make_unique<RunMonitor>(
      run_, job_.run,
      RunMonitor::Hooks{.show_progress = [this] { look(); },
                        .warn = say,
                        .give_up = [say](const std::string& what) {
                          say(what);
                          std::fflush(nullptr);
                          ::_exit(Exit::kFailed);
                        }});
}

void RunScreen::look() {
  if (!stopped_ && StopRequest::requested()) {
    stopped_ = true;
    run_.stop();
  }
}

void RunScreen::end() {
  monitor_.reset();
  ended_ = run_.clock().now();
}

std::chrono::nanoseconds RunScreen::elapsed() const { return ended_ - began_; }

Exit leave(Exit exit) {
  std::fflush(stdout);
  if (!exit.message.empty()) std::fprintf(stderr, "forebay: %s\n", exit.message.c_str());
  std::fflush(nullptr);
  ::_exit(exit.status);
}

void print_summary(const RunOutcome& outcome, const JobSpec& job) {
  std::printf("%llu rows in %llu batches, %.1f s, %.0f rows/s\n",
              static_cast<unsigned long long>(outcome.rows), static_cast<unsigned long long>(outcome.batches),
              outcome.seconds, outcome.rows_per_second());
  std::printf("digest %s, peak memory %.0f MiB of %.0f MiB\n", outcome.order_digest.c_str(),
              static_cast<double>(outcome.peak_memory_bytes) / (1 << 20),
              static_cast<double>(job.pipeline.memory_bytes) / (1 << 20));
}

}  // namespace forebay
