#include "engine/process/shell_command.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include <spawn.h>

#include "core/base/child_end.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

/// Spawn attributes: a group of its own, no blocked signals.
struct OwnGroup {
  posix_spawnattr_t attributes{};

  OwnGroup() {
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~OwnGroup() { ::posix_spawnattr_destroy(&attributes); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
};

ShellCommand::Ending ending_of(int status) {
  if (WIFSIGNALED(status)) {
    return {false, "was ended by signal " + std::to_string(WTERMSIG(status))};
  }
  const int exit_status = WEXITSTATUS(status);
  return {exit_status == 0, "ended with exit status " + std::to_string(exit_status)};
}

}  // namespace

Result<ShellCommand> ShellCommand::start(const std::string& line) {
  std::string shell = "sh";
  std::string option = "-c";
  std::string script = with_first_descriptor_limit(line);
  const std::array<char*, 4> words{shell.data(), option.data(), script.data(), nullptr};
  const OwnGroup group;
  pid_t id = -1;
  const int error =
      ::posix_spawn(&id, "/bin/sh", nullptr, &group.attributes, words.data(), environ);
  if (error == 0) return ShellCommand(id);
  return fail(Code::kUnavailable, std::string("could not be started: ") + std::strerror(error));
}

ShellCommand::ShellCommand(ShellCommand&& other) noexcept
    : id_(std::exchange(other.id_, -1)), ending_(std::move(other.ending_)) {}

ShellCommand& ShellCommand::operator=(ShellCommand&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(ending_, other.ending_);
  return *this;
}

ShellCommand::~ShellCommand() {
  if (id_ >= 0 && !ending_within(kGrace)) end();
}

void ShellCommand::end() {
  if (id_ < 0) return;
  const pid_t group = id_;
  ::kill(-group, SIGTERM);
  const bool ended = ending_within(kTermination).has_value();
  ::kill(-group, SIGKILL);  // its descendants, too, whether or not they heed SIGTERM
  if (!ended) static_cast<void>(::waitpid(group, nullptr, 0));
  id_ = -1;
}

std::optional<ShellCommand::Ending> ShellCommand::ending() { return ending_within({}); }

std::optional<ShellCommand::Ending> ShellCommand::ending_within(std::chrono::milliseconds most) {
  if (id_ < 0) return ending_;
  const ChildEnd end = wait_for_child(id_, most);
  if (!end.ended) return std::nullopt;
  ending_ = end.status ? ending_of(*end.status) : Ending{true, "has ended"};
  id_ = -1;
  return ending_;
}

}  // namespace forebay
