#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <spawn.h>

#include "tools/compare/report.h"
#include "tools/process/paths.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr int kNoMatplotlib = 3;  // the script's exit status
constexpr int kNoProgram = 127;

/// A child process whose stdout is read here; its stdin and stderr are /dev/null.
class Child {
 public:
  static Result<Child> start(std::vector<std::string> words) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Code::kUnavailable, "no pipe is left");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t pid = 0;
    const int problem =
        ::posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (problem != 0) {
      ::close(ends[0]);
      return fail(Code::kNotFound, words.front() + " cannot be started");
    }
    return Child(pid, ends[0]);
  }

  /// Returns the child's output up to its end; ends the child when `stop` is set.
  std::string read_all(const std::atomic<bool>& stop) const {
    constexpr int kLookAgainMs = 100;
    std::string text;
    std::array<char, 4096> buffer{};
    pollfd waited = {.fd = out_, .events = POLLIN, .revents = 0};
    while (true) {
      if (stop) ::kill(pid_, SIGTERM);
      if (::poll(&waited, 1, kLookAgainMs) <= 0) continue;
      const ssize_t size = ::read(out_, buffer.data(), buffer.size());
      if (size <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  /// Returns its exit status; 128 plus the signal if a signal ended it.
  int wait() const {
    ::close(out_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  Child(pid_t pid, int out) : pid_(pid), out_(out) {}

  pid_t pid_;
  int out_;
};

std::string problem_of(int status) {
  if (status == kNoMatplotlib) {
    return "no plots: python3 has no matplotlib; install it (apt-get install python3-matplotlib)";
  }
  if (status == kNoProgram) {
    return "no plots: there is no python3; install it (apt-get install python3-matplotlib)";
  }
  return "no plots: the script that draws them ended with status " + std::to_string(status);
}

/// Returns the path of the script that draws plots: beside the program, in its prefix's
/// share/forebay, or in the source tree that the program was built in; "" if it is in none of them.
std::string find_plot_script() {
  const auto self = own_path();
  if (!self) return {};
  const fs::path program = fs::path(*self).parent_path();
  const std::array places = {program / "plot.py", program / "../share/forebay/plot.py",
                             // In a build tree: build/release/tools.
                             program / "../../../tools/report/plot.py"};
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place.lexically_normal().string();
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> draw_plots(const std::string& folder,
                                            const std::vector<std::string>& pipelines,
                                            const std::atomic<bool>& stop) {
  const std::string script = find_plot_script();
  if (script.empty()) {
    return fail(Code::kUnavailable,
                "no plots: the script that draws them (share/forebay/plot.py) is not installed");
  }
  std::string printed;
  int status = kNoProgram;
  // Debian's matplotlib may not be installed for the first python3 of the user's PATH.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (status != kNoProgram && status != kNoMatplotlib) break;
    std::vector<std::string> words = {python, "-B", script, folder};
    words.insert(words.end(), pipelines.begin(), pipelines.end());
    auto child = Child::start(std::move(words));
    if (!child) continue;
    printed = child->read_all(stop);
    status = child->wait();
  }
  if (status != 0) return fail(Code::kUnavailable, problem_of(status));
  std::istringstream lines(printed);
  std::vector<std::string> plots;
  for (std::string line; std::getline(lines, line);) plots.push_back(line);
  return plots;
}

}  // namespace forebay
