#include "tools/terminal/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/printable.h"
#include "tools/process/message.h"
#include "tools/terminal/progress.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kBetweenLiveLines{200};
constexpr std::chrono::seconds kBetweenPlainLines{5};

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

StatusLine::StatusLine()
    : on_terminal_(::isatty(STDERR_FILENO) == 1), shown_at_(std::chrono::steady_clock::now()) {}

bool StatusLine::is_due() const {
  const auto passed = std::chrono::steady_clock::now() - shown_at_;
  return on_terminal_ ? passed >= kBetweenLiveLines : passed >= kBetweenPlainLines;
}

void StatusLine::show(const std::string& line) {
  clear();
  shown_at_ = std::chrono::steady_clock::now();
  shown_ = on_terminal_;
  if (on_terminal_) {
    std::fputs(fit_line(printable_message(line), terminal_columns() - 1).c_str(), stderr);
  } else {
    print_message(line);
  }
}

void StatusLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace forebay
