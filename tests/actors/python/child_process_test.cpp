#include "actors/python/child_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "actors/python/child_list.h"
#include "actors/python/shared_memory.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// A child that runs a shell's command.
class Shell {
 public:
  explicit Shell(const std::string& command) : memory_(SharedMemory::create()) {
    REQUIRE(memory_);
    auto started = ChildProcess::start("sh", {"-c", command}, memory_->descriptor());
    REQUIRE(started);
    child = std::move(*started);
  }

  /// Waits for one byte or the end of the channel.
  std::string heard() const {
    std::array<char, 64> text{};
    const ssize_t size = ::recv(child->channel(), text.data(), text.size(), 0);
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }

  std::optional<ChildProcess> child;

 private:
  Result<SharedMemory> memory_;
};

TEST_CASE("a child has a channel, an empty stdin and only its files", "[actors][python]") {
  const int inherited = ::dup2(STDIN_FILENO, 77);
  const Shell shell(
      "cat; for f in 3 4 5 77; do [ -e /proc/$$/fd/$f ] && all=$all$f,; done; echo $all >&3");
  ::close(inherited);
  CHECK(shell.heard() == "3,4,5,\n");
}

TEST_CASE("what a child writes before it takes over stderr is kept", "[actors][python]") {
  Shell shell("echo one; echo two >&2; exit 4");
  CHECK(shell.child->ending() == "ended with status 4");
  CHECK(shell.child->said() == "two");
}

TEST_CASE("a child that was killed says by what", "[actors][python]") {
  Shell shell("kill -9 $$");
  CHECK(shell.child->ending() == "was killed by signal 9 (Killed)");
}

TEST_CASE("a program that is not there is named", "[actors][python]") {
  auto memory = SharedMemory::create();
  const auto child = ChildProcess::start("no-such-program", {}, memory->descriptor());
  REQUIRE_FALSE(child);
  CHECK(child.error().code == Code::kNotFound);
  CHECK(child.error().message == "no-such-program: cannot be started: No such file or directory");
}

TEST_CASE("signals that stop a terminal's jobs do not end a child", "[actors][python]") {
  const Shell shell("kill -INT $$; kill -TERM $$; kill -HUP $$; echo alive >&3");
  CHECK(shell.heard() == "alive\n");
}

TEST_CASE("the end of its owner ends a child that does not listen", "[actors][python]") {
  pid_t id = 0;
  {
    const Shell shell("echo x >&3; exec sleep 1000");
    CHECK(shell.heard() == "x\n");
    id = shell.child->id();
    CHECK(::kill(id, 0) == 0);
  }
  CHECK(::kill(id, 0) != 0);
}

TEST_CASE("resident bytes are those of living processes", "[actors][python]") {
  const Shell shell("echo x >&3; exec sleep 1000");
  CHECK(shell.heard() == "x\n");
  const pid_t id = shell.child->id();
  CHECK(resident_bytes_of(id) > 0);
  ChildList list;
  CHECK(list.resident_bytes() == 0);
  {
    const ChildList::Entry entry(list, ::getpid());
    ChildList::Entry moved(list, ::getpid());
    CHECK(list.resident_bytes() >= 2 * (1U << 20));
    moved = ChildList::Entry();
    CHECK(list.resident_bytes() > 0);
  }
  CHECK(list.resident_bytes() == 0);
}

}  // namespace
}  // namespace forebay
