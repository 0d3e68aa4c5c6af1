#include "tools/bench/bench_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "core/base/child_end.h"
#include "core/base/text/json_text.h"
#include "core/base/text/number.h"
#include "core/base/whole_file.h"
#include "tools/bench/bench_setup.h"

namespace forebay {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_of(const rusage& usage) {
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

std::string end_of_file(const std::string& path, std::size_t most) {
  const std::string text = read_whole(path, std::size_t{64} << 20).value_or("");
  return text.size() > most ? text.substr(text.size() - most) : text;
}

std::map<std::string, double> numbers_of(const nlohmann::json& object) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number()) numbers[name] = value.get<double>();
  }
  return numbers;
}

constexpr int kPollMs = 50;
/// How long a benchmark may take after a stop request to end by itself.
constexpr int kGracePolls = 20;

/// Becomes the leader of a process group, whose other members are the benchmark's own processes.
void join_own_group(pid_t parent, const std::string& folder) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) end_process(Exit::kFailed);
  ::setpgid(0, 0);
  ::setenv("TMPDIR", folder.c_str(), 1);
}

/// Ends what is left of a benchmark's group and waits until all of it has ended.
void end_group(pid_t group) {
  ::kill(-group, SIGKILL);
  while (::waitpid(-group, nullptr, 0) > 0 || errno == EINTR) {
  }
}

Exit exit_of(const ChildEnd& end) {
  if (!end.ended) return Exit::stopped(StopRequest::signal());
  const int status = end.status.value_or(0);
  if (!WIFSIGNALED(status)) return {WEXITSTATUS(status), ""};
  return {Exit::kFailed,
          "the benchmark's process was ended by signal " + std::to_string(WTERMSIG(status))};
}

/// Waits for the benchmark's end; passes on a stop request, and ends a benchmark that goes on.
Exit await_benchmark(pid_t child) {
  int polls_left = kGracePolls;
  ChildEnd end;
  while (!(end = wait_for_child(child, {})).ended && polls_left > 0) {
    if (StopRequest::requested() && polls_left-- == kGracePolls) {
      ::kill(-child, StopRequest::signal());
    }
    ::poll(nullptr, 0, kPollMs);
  }
  end_group(child);
  return exit_of(end);
}

}  // namespace

Exit run_apart(const std::function<Exit()>& benchmark) {
  const auto folder = BenchFolder::make();
  if (!folder) return Exit::failed(folder.error());
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // to wait for processes whose parent is killed
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return Exit::failed({Code::kUnavailable, "the benchmark's process cannot be started"});
  }
  if (child == 0) {
    join_own_group(parent, folder->path());
    leave(benchmark());
  }
  ::setpgid(child, child);  // as the child does: a stop may be requested before it gets that far
  return await_benchmark(child);
}

Result<std::map<std::string, double>> last_numbers_in(const std::string& path) {
  const std::string text = '\n' + end_of_file(path, 1 << 16);
  const auto begin = text.rfind("\n{");
  if (begin != std::string::npos) {
    const auto said =
        parse_json(std::string_view(text).substr(begin, text.find('\n', begin + 1) - begin));
    if (said.is_object()) return numbers_of(said);
  }
  return fail(Code::kUnavailable, path + ": a process of the benchmark printed no figures");
}

Result<std::map<std::string, double>> numbers_said_by(const std::string& command) {
  if (StopRequest::requested()) return fail(Code::kUnavailable, "stopped");
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return fail(Code::kUnavailable, "cannot start a shell for: " + command);
  std::array<char, 4096> buffer{};
  const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe);
  const int status = ::pclose(pipe);
  const auto said = parse_json({buffer.data(), size});
  if (status != 0 || !said.is_object()) {
    return fail(Code::kUnavailable, "gave no figures; is it built or installed? " + command);
  }
  return numbers_of(said);
}

Result<double> rate_said_by(const std::string& command) {
  auto said = numbers_said_by(command);
  if (!said) return pass(said);
  return (*said)["rows_per_second"];
}

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
  return fail(Code::kUnavailable, "a process of the benchmark failed: " + end_of_file(said_, 500));
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return cpu_of(usage);
}

std::string BenchProcess::Lines::read() const {
  std::string line;
  char letter = 0;
  while (::read(in_, &letter, 1) == 1 && letter != '\n') line += letter;
  return line;
}

Result<double> BenchProcess::Lines::read_number() const {
  const std::string said = read();
  if (const auto number = parse_number<double>(said)) return *number;
  return fail(Code::kUnavailable, said.empty() ? "a process of the benchmark ended"
                                               : "a process of the benchmark: " + said);
}

void BenchProcess::Lines::write(const std::string& line) const {
  const std::string whole = line + '\n';
  static_cast<void>(!::write(out_, whole.data(), whole.size()));
}

void BenchProcess::Lines::close() const {
  ::close(in_);
  ::close(out_);
}

Result<BenchProcess> BenchProcess::start(const std::function<void(const Lines&)>& body) {
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
  return BenchProcess(pid, Lines(up[0], down[1]));
}

BenchProcess::BenchProcess(BenchProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), lines_(other.lines_) {}

void BenchProcess::kill() const { ::kill(pid_, SIGKILL); }

BenchProcess::~BenchProcess() {
  if (pid_ < 0) return;
  lines_.close();
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace forebay
