#include "engine/cluster/scaling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// A trainer that takes 100 splits a second when it has enough, on a node that makes 20, and
/// workers that make 10 each; a launcher that records the requested numbers of workers.
class Trainer {
 public:
  enum class Launcher { kEnds, kWaits, kFails };

  explicit Trainer(Launcher launcher = Launcher::kEnds) {
    std::string then;
    if (launcher == Launcher::kWaits)
      then = "; until test -e " + dir_.path("go") + "; do sleep 0.01; done";
    if (launcher == Launcher::kFails) then = "; exit 3";
    job_.cluster.scale = "sh -c 'echo $1 >> " + dir_.path("asked") + then + "' sh";
    job_.tuner.period = 1s;
    begin();
  }
  void begin() {
    scaling_.emplace(job_, dir_.path("tuner/workers"),
                     [this](const std::string& text) { said.push_back(text); });
  }

  /// A second passes, in which the local node and the workers worked at full speed.
  void second(std::uint32_t workers) {
    if (taken_.at == 10s) look(workers);
    const double rate = std::min(100.0, 20 + 10.0 * workers);
    taken_.at += 1s;
    taken_.splits += rate;
    taken_.arrived += static_cast<std::uint64_t>(rate);
    taken_.waited += std::chrono::milliseconds(static_cast<int>(10 * (100 - rate)));
    local_ += 20;
    made_.resize(std::max<std::size_t>(made_.size(), workers));
    for (std::uint64_t& made : made_) made += 10;
    look(workers);
    if (held_) finish_command(workers);
  }
  void finish_command(std::uint32_t workers) {
    test::wait_until([&] {
      look(workers);
      return !scaling_->busy();
    });
  }
  void seconds(int count, std::uint32_t workers) {
    for (int i = 0; i < count; ++i) second(workers);
  }
  void look(std::uint32_t workers) {
    made_.resize(std::max<std::size_t>(made_.size(), workers), 10);
    using State = scheduler::NodeStatus::State;
    scheduler::ClusterStatus status;
    status.nodes.resize(workers + 1);
    for (std::uint32_t i = 0; i <= workers; ++i) {
      scheduler::NodeStatus& node = status.nodes[i];
      node.name = i == 0 ? "local" : "w" + std::to_string(i);
      node.incarnation = i + 1;
      node.state = refused && i > 0 ? State::kRefused : State::kPrepared;
      node.splits_done = i == 0 ? local_ : made_[i - 1];
      node.could_make = 10;
    }
    scaling_->look(status, taken_, "local", central);
  }
  void pass(std::chrono::milliseconds time) { taken_.at += time; }

  /// All numbers that the launcher was asked for, once the last command has ended.
  std::string asked() {
    wanted = scaling_->wanted();
    scaling_.reset();
    return asked_now();
  }
  std::string asked_now() const { return dir_.read("asked"); }
  std::string needed() const { return dir_.read("tuner/workers"); }
  void let_go() const { dir_.write("go", ""); }
  std::optional<std::uint32_t> central;  ///< That the central tuner wants.
  /// Does not wait for commands from now on.
  void hurry() { held_ = false; }

  std::vector<std::string> said;
  std::optional<std::uint32_t> wanted;
  bool refused = false;

 private:
  test::TempDir dir_;
  JobSpec job_;
  Scaling::Taken taken_{.at = 10s};
  std::uint64_t local_ = 100;
  std::vector<std::uint64_t> made_;  // by each worker since it came
  bool held_ = true;
  std::optional<Scaling> scaling_;
};

TEST_CASE("the launcher is asked for as many workers as feed the trainer", "[tools][cluster]") {
  Trainer trainer;
  trainer.seconds(3, 1);
  // (105 - 20) / 10 = 8.5 are needed; one becomes at most four in a step.
  CHECK(trainer.asked_now() == "4\n");
  trainer.seconds(5, 4);
  CHECK(trainer.asked_now() == "4\n9\n");
  trainer.seconds(20, 9);
  CHECK(trainer.said.size() == 2);
  CHECK(trainer.asked() == "4\n9\n");
  CHECK(trainer.wanted == 9U);
}

TEST_CASE("the next run of the same work starts with the workers that this one needed",
          "[tools][cluster]") {
  Trainer trainer;
  trainer.seconds(20, 9);
  CHECK(trainer.needed() == "9\n");
  CHECK(trainer.asked_now().empty());
  trainer.begin();
  trainer.look(0);
  trainer.second(0);
  CHECK(trainer.asked() == "9\n");
}

TEST_CASE("a trainer that starves alone gets one worker to learn from", "[tools][cluster]") {
  Trainer trainer;
  trainer.second(0);
  CHECK(trainer.asked() == "1\n");
}

TEST_CASE("workers that were refused make nothing and are not waited for", "[tools][cluster]") {
  Trainer trainer;
  trainer.refused = true;
  trainer.seconds(5, 2);
  CHECK(trainer.asked() == "1\n");
}

TEST_CASE("nothing is decided before a period has passed", "[tools][cluster]") {
  Trainer trainer;
  trainer.look(1);
  trainer.pass(999ms);
  trainer.look(1);
  CHECK(trainer.asked().empty());
  CHECK_FALSE(trainer.wanted);
}

TEST_CASE("no second command runs beside the first, and the next decision waits for its end",
          "[tools][cluster]") {
  Trainer trainer(Trainer::Launcher::kWaits);
  trainer.hurry();
  trainer.second(0);
  test::wait_until([&] { return trainer.asked_now() == "1\n"; });
  trainer.seconds(6, 1);
  CHECK(trainer.asked_now() == "1\n");
  CHECK(trainer.said.size() == 1);
  trainer.let_go();
  trainer.finish_command(1);
  trainer.second(1);
  CHECK(trainer.asked() == "1\n4\n");
}

TEST_CASE("a command that failed is run again after a minute", "[tools][cluster]") {
  Trainer trainer(Trainer::Launcher::kFails);
  trainer.seconds(60, 0);
  CHECK(trainer.asked_now() == "1\n");
  trainer.second(0);
  CHECK(trainer.asked_now() == "1\n1\n");
  REQUIRE(trainer.said.size() == 4);
  CHECK(trainer.said[2] == "asks again for 1 worker: the command failed");
  CHECK(trainer.said[3].find("ended with exit status 3") != std::string::npos);
}

TEST_CASE("a command that runs for a minute is reported, and ended with the run",
          "[tools][cluster]") {
  Trainer trainer(Trainer::Launcher::kWaits);
  trainer.hurry();
  trainer.second(0);
  test::wait_until([&] { return trainer.asked_now() == "1\n"; });
  trainer.seconds(59, 0);
  CHECK(trainer.said.size() == 1);
  trainer.seconds(61, 0);
  REQUIRE(trainer.said.size() == 2);
  CHECK(trainer.said[1].find("has run for a minute") != std::string::npos);
  CHECK(trainer.asked() == "1\n");
  REQUIRE(trainer.said.size() == 3);
  CHECK(trainer.said[2].find("still ran at the end of the run") != std::string::npos);
}

TEST_CASE("the launcher is asked for the number that the central tuner wants", "[tools][cluster]") {
  Trainer trainer;
  trainer.central = 5;
  trainer.seconds(20, 2);
  trainer.central = 3;
  trainer.seconds(5, 5);
  REQUIRE_FALSE(trainer.said.empty());
  CHECK(trainer.said.front() == "the central tuner wants 5 workers");
  CHECK(trainer.asked() == "5\n3\n");
}

TEST_CASE("a central tuner that wants no worker starts none", "[tools][cluster]") {
  Trainer trainer;
  trainer.central = 0;
  trainer.seconds(20, 0);
  CHECK(trainer.asked().empty());
  CHECK(trainer.wanted == 0U);
}

TEST_CASE("a worker that dies is replaced where the central tuner counts the workers",
          "[tools][cluster]") {
  Trainer trainer;
  trainer.central = 4;
  trainer.seconds(5, 4);
  CHECK(trainer.asked_now().empty());
  trainer.seconds(9, 3);
  CHECK(trainer.asked_now().empty());
  trainer.seconds(3, 3);
  CHECK(trainer.asked_now() == "4\n");
  CHECK(trainer.said.back() == "3 of 4 workers are here");
}

}  // namespace
}  // namespace forebay
