#include "tools/bench/measured_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "core/base/whole_file.h"

namespace forebay {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_of(const rusage& usage) {
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string end_of_file(const std::string& path) {
  constexpr std::size_t kMost = 500;
  const std::string text = read_whole(path, std::size_t{64} << 20).value_or("");
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

}  // namespace

Result<MeasuredProgram> MeasuredProgram::start(std::vector<std::string> arguments,
                                               const std::string& said) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(Code::kUnavailable, "no other process can be started");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int file = ::open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0) {
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
    }
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  return MeasuredProgram(pid, said);
}

MeasuredProgram::MeasuredProgram(MeasuredProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      said_(std::move(other.said_)),
      status_(other.status_),
      cpu_seconds_(other.cpu_seconds_) {}

MeasuredProgram::~MeasuredProgram() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait(0);
}

void MeasuredProgram::wait(int flags) {
  rusage usage{};
  if (pid_ < 0 || ::wait4(pid_, &status_, flags, &usage) != pid_) return;
  pid_ = -1;
  cpu_seconds_ = cpu_of(usage);
}

bool MeasuredProgram::has_ended() {
  wait(WNOHANG);
  return pid_ < 0;
}

Result<double> MeasuredProgram::cpu_seconds() {
  while (pid_ >= 0) wait(0);
  if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return cpu_seconds_;
  return fail(Code::kUnavailable, "a process of the benchmark failed: " + end_of_file(said_));
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return cpu_of(usage);
}

}  // namespace forebay
