#include "engine/process/shell_command.h"

#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;

ShellCommand start(const std::string& line) {
  auto started = ShellCommand::start(line);
  REQUIRE(started);
  return std::move(*started);
}

std::string ending_of(const std::string& line) {
  const auto ending = start(line).ending_within(kLong);
  REQUIRE(ending);
  return ending->text + (ending->succeeded ? "" : " (failed)");
}

bool lives(pid_t process) { return ::kill(process, 0) == 0; }

TEST_CASE("a shell command tells its exit status or the signal that ended it", "[engine]") {
  CHECK(ending_of("true") == "ended with exit status 0");
  CHECK(ending_of("exit 3") == "ended with exit status 3 (failed)");
  CHECK(ending_of("kill -9 $$") == "was ended by signal 9 (failed)");
}

TEST_CASE("a shell command has no ending while it runs", "[engine]") {
  const test::TempDir dir;
  ShellCommand command = start("until test -e " + dir.path("go") + "; do sleep 0.01; done");
  CHECK_FALSE(command.ending());
  dir.write("go", "");
  CHECK(command.ending_within(kLong));
  CHECK(command.ending());
}

TEST_CASE("a shell command has a process group of its own", "[engine]") {
  CHECK(ending_of("kill -0 -$$") == "ended with exit status 0");
}

TEST_CASE("a shell command that goes on is ended with all its descendants", "[engine]") {
  const test::TempDir dir;
  {
    const ShellCommand command =
        start("trap '' TERM; sleep 1000 & echo $! > " + dir.path("id") + "; wait");
    test::wait_until([&] { return dir.read("id").ends_with("\n"); });
    CHECK(lives(std::stoi(dir.read("id"))));
  }
  test::wait_until([&] { return !lives(std::stoi(dir.read("id"))); });
}

TEST_CASE("what a finished shell command left running stays", "[engine]") {
  const test::TempDir dir;
  CHECK(ending_of("sleep 1000 & echo $! > " + dir.path("id")) == "ended with exit status 0");
  const pid_t left = std::stoi(dir.read("id"));
  CHECK(lives(left));
  ::kill(left, SIGKILL);
}

}  // namespace
}  // namespace forebay
