#include "tools/bench/wire_bench_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace forebay {

std::string WireBenchProcess::Lines::read() const {
  std::string line;
  char letter = 0;
  while (::read(in_, &letter, 1) == 1 && letter != '\n') line += letter;
  return line;
}

void WireBenchProcess::Lines::write(const std::string& line) const {
  const std::string whole = line + '\n';
  static_cast<void>(!::write(out_, whole.data(), whole.size()));
}

void WireBenchProcess::Lines::close() const {
  ::close(in_);
  ::close(out_);
}

Result<WireBenchProcess> WireBenchProcess::start(const std::function<void(const Lines&)>& body) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (::pipe(down.data()) != 0) return fail(Code::kUnavailable, "no pipe to another process");
  if (::pipe(up.data()) != 0) return fail(Code::kUnavailable, "no pipe to another process");
  const pid_t pid = ::fork();
  if (pid < 0) return fail(Code::kUnavailable, "no other process can be started");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(down[1]);
    ::close(up[0]);
    body(Lines(down[0], up[1]));
    ::_exit(0);
  }
  ::close(down[0]);
  ::close(up[1]);
  return WireBenchProcess(pid, Lines(up[0], down[1]));
}

WireBenchProcess::WireBenchProcess(WireBenchProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), lines_(other.lines_) {}

void WireBenchProcess::kill() const { ::kill(pid_, SIGKILL); }

WireBenchProcess::~WireBenchProcess() {
  if (pid_ < 0) return;
  lines_.close();
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace forebay
