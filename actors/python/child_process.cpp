#include "actors/python/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <spawn.h>

#include "core/base/child_end.h"
#include "core/base/text/number.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

/// Files of the child.
constexpr int kChannel = 3;
constexpr int kMemory = 4;
constexpr int kStderr = 5;

/// A copy of a file whose number is none of the child's, so that no dup2 overwrites another.
Descriptor out_of_the_way(int file) {
  constexpr int kFirst = 10;
  return Descriptor(::fcntl(file, F_DUPFD_CLOEXEC, kFirst));
}

/// The environment of the child: this process's, and one thread for each numeric library.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) all.emplace_back(*each);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (std::getenv(name) == nullptr) all.push_back(std::string(name) + "=1");
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Owns the two tables of posix_spawn.
struct SpawnOptions {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

  SpawnOptions() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnOptions() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  void give(const Descriptor& file, int as) {
    ::posix_spawn_file_actions_adddup2(&files, file.number(), as);
  }

  /// Resets all handlers, and blocks what stops a group of processes: the parent stops in order,
  /// and its children with it.
  void set_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&blocked, signal);
    ::posix_spawnattr_setsigmask(&attributes, &blocked);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
};

std::string reason(int error) { return std::strerror(error); }

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::string& program,
                                         const std::vector<std::string>& arguments,
                                         int shared_memory) {
  ChildProcess child;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(Code::kUnavailable, "no socket for a child process: " + reason(errno));
  }
  child.channel_ = Descriptor(ends[0]);
  const Descriptor far_end(ends[1]);
  child.output_ = Descriptor(::memfd_create("forebay-output", MFD_CLOEXEC));
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const bool has_stderr = ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  const Descriptor input = out_of_the_way(null.number());
  const Descriptor output = out_of_the_way(child.output_.number());
  const Descriptor channel = out_of_the_way(far_end.number());
  const Descriptor memory = out_of_the_way(shared_memory);
  const Descriptor errors = out_of_the_way(has_stderr ? STDERR_FILENO : null.number());
  if (!input || !output || !channel || !memory || !errors) {
    return fail(Code::kUnavailable, "no files for a child process: " + reason(errno));
  }
  SpawnOptions options;
  options.give(input, STDIN_FILENO);
  options.give(output, STDOUT_FILENO);
  options.give(output, STDERR_FILENO);
  options.give(channel, kChannel);
  options.give(memory, kMemory);
  options.give(errors, kStderr);
  ::posix_spawn_file_actions_addclosefrom_np(&options.files, kStderr + 1);
  options.set_signals();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment();
  const int error = ::posix_spawnp(&child.id_, program.c_str(), &options.files, &options.attributes,
                                   pointers_to(words).data(), pointers_to(variables).data());
  if (error == 0) return child;
  child.id_ = -1;
  return fail(error == ENOENT || error == EACCES ? Code::kNotFound : Code::kUnavailable,
              program + ": cannot be started: " + reason(error));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : channel_(std::move(other.channel_)),
      output_(std::move(other.output_)),
      id_(std::exchange(other.id_, -1)),
      status_(other.status_),
      ended_(other.ended_),
      known_(other.known_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(channel_, other.channel_);
  std::swap(output_, other.output_);
  std::swap(id_, other.id_);
  std::swap(status_, other.status_);
  std::swap(ended_, other.ended_);
  std::swap(known_, other.known_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (id_ > 0) static_cast<void>(ending());
}

// Another part of the program may wait for all children, and take this one's status.
bool ChildProcess::wait(std::chrono::milliseconds most) {
  if (ended_) return true;
  const ChildEnd end = wait_for_child(id_, most);
  known_ = end.status.has_value();
  status_ = end.status.value_or(status_);
  ended_ = end.ended;
  return ended_;
}

void ChildProcess::kill() {
  channel_ = Descriptor();
  if (id_ <= 0 || ended_) return;
  ::kill(id_, SIGKILL);
  pid_t found = 0;
  while ((found = ::waitpid(id_, &status_, 0)) < 0 && errno == EINTR) {
  }
  known_ = found == id_;
  ended_ = true;
}

std::string ChildProcess::ending() {
  channel_ = Descriptor();
  if (!wait(kGrace)) kill();
  if (!known_) return "has ended";
  if (!WIFSIGNALED(status_)) {
    return "ended with status " + std::to_string(WEXITSTATUS(status_));
  }
  const int signal = WTERMSIG(status_);
  return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

bool ChildProcess::was_killed() const { return known_ && WIFSIGNALED(status_); }

std::string ChildProcess::said() const {
  constexpr std::size_t kMost = 4096;
  const off_t end = ::lseek(output_.number(), 0, SEEK_END);
  const off_t begin = end > static_cast<off_t>(kMost) ? end - static_cast<off_t>(kMost) : 0;
  std::string text(kMost, '\0');
  const ssize_t size = ::pread(output_.number(), text.data(), text.size(), begin);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::uint64_t resident_bytes_of(pid_t process) {
  constexpr std::size_t kMost = 256;
  const auto text = read_whole("/proc/" + std::to_string(process) + "/statm", kMost);
  if (!text) return 0;
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return second_number(*text).value_or(0) * page;
}

void share_affinity_with(pid_t process) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const auto thread = parse_number<pid_t>(entry.path().filename().string()).value_or(0);
    if (thread > 0) ::sched_setaffinity(thread, sizeof cpus, &cpus);
  }
}

}  // namespace forebay
