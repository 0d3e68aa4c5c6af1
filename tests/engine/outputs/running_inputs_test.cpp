#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/outputs/inputs.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::optional<Inputs> inputs_of(pid_t process) {
  const auto all = inputs_of_other_processes();
  const auto found = std::ranges::find(all, process, &RunningInputs::process);
  return found == all.end() ? std::nullopt : std::optional(found->inputs);
}

/// A process that publishes `inputs` and ends with this object.
class Publisher {
 public:
  explicit Publisher(const Inputs& inputs) {
    std::array<int, 2> ready{};
    std::array<int, 2> stop{};
    REQUIRE(::pipe(ready.data()) == 0);
    REQUIRE(::pipe(stop.data()) == 0);
    process = ::fork();
    if (process == 0) {
      ::close(stop[1]);
      const auto published = PublishedInputs::publish(inputs, {});
      char byte = 'y';
      if (::write(ready[1], &byte, 1) == 1 && ::read(stop[0], &byte, 1) == 0) ::_exit(0);
      ::_exit(1);
    }
    ::close(stop[0]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    REQUIRE(byte == 'y');
    ::close(ready[0]);
    ::close(ready[1]);
    stop_ = Descriptor(stop[1]);
  }
  ~Publisher() { end(); }
  void end() {
    if (!stop_) return;
    stop_ = Descriptor();
    ::waitpid(process, nullptr, 0);
  }

  pid_t process = 0;

 private:
  Descriptor stop_;
};

}  // namespace

TEST_CASE("another process' inputs are seen while it runs, and gone with it", "[tools][outputs]") {
  const test::TempDir dir;
  Inputs inputs;
  inputs.add_file("dataset.paths", dir.write("day_0.tsv", ""));
  inputs.checkpoints.push_back(dir.path("checkpoints"));
  Publisher publisher(inputs);
  CHECK(inputs_of(publisher.process) == inputs);
  publisher.end();
  CHECK_FALSE(inputs_of(publisher.process));
}

TEST_CASE("a command goes on where its inputs cannot be published", "[tools][outputs]") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    const rlimit none{};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) ::_exit(1);
    const auto published = PublishedInputs::publish({}, {});
    ::_exit(inputs_of_other_processes().empty() ? 0 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a process does not take its own inputs for another's", "[tools][outputs]") {
  const auto published = PublishedInputs::publish({}, {});
  CHECK_FALSE(inputs_of(::getpid()));
}

}  // namespace forebay
