#include "tools/compare/compare_progress.h"

#include <chrono>
#include <cstdio>
#include <string>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

constexpr std::int64_t kTerminalEvery = 200'000'000;  // ns
constexpr std::int64_t kLogEvery = 5'000'000'000;

}  // namespace

CompareProgress::CompareProgress(const Clock& clock, std::uint64_t runs, bool terminal)
    : clock_(clock),
      runs_(runs),
      terminal_(terminal),
      begin_(clock.now().count()),
      next_(begin_ + (terminal ? kTerminalEvery : kLogEvery)) {}

void CompareProgress::done(std::uint64_t count) {
  const std::int64_t now = clock_.now().count();
  std::int64_t due = next_.load();
  if (now < due) return;
  if (!next_.compare_exchange_strong(due, now + (terminal_ ? kTerminalEvery : kLogEvery))) return;
  const double left = static_cast<double>(now - begin_) / static_cast<double>(count) *
                      static_cast<double>(runs_ - count);
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(left));
  const std::string line = format_count(count) + " of " + format_count(runs_) + " runs | " +
                           format_duration(time) + " left";
  std::fprintf(stderr, terminal_ ? "\rforebay: %s\033[K" : "forebay: %s\n", line.c_str());
}

void CompareProgress::finish() const {
  if (terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace forebay
