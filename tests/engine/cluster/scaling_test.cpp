#include "engine/cluster/scaling.h"

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
  enum class Launcher { kEnds, kWaits };

  explicit Trainer(Launcher launcher = Launcher::kEnds) {
    const std::string waits = "; until test -e " + dir_.path("go") + "; do sleep 0.01; done";
    job_.cluster.scale = "sh -c 'echo $1 >> " + dir_.path("asked") +
                         (launcher == Launcher::kWaits ? waits : "") + "' sh";
    job_.tuner.period = 1s;
    scaling_.emplace(job_, [this](const std::string& text) { said.push_back(text); });
  }

  /// A second passes, in which the trainer got so many splits and waited for the rest.
  void second(std::uint64_t splits, std::uint32_t workers) {
    if (taken_.at == 10s) look(workers);
    taken_.at += 1s;
    taken_.splits += splits;
    taken_.waited += std::chrono::milliseconds(10 * (100 - splits));
    look(workers);
  }
  void look(std::uint32_t workers) {
    scheduler::ClusterStatus status;
    status.mean_worker_rate = workers > 0 ? 10 : 0;
    status.nodes.resize(workers + 1);
    status.nodes.front().name = "local";
    status.nodes.front().rate = 20;
    scaling_->look(status, taken_, "local");
  }
  void pass(std::chrono::milliseconds time) { taken_.at += time; }

  /// The last number that the launcher was asked for, once the last command has ended.
  std::string asked() {
    wanted = scaling_->wanted();
    scaling_.reset();
    return asked_now();
  }
  std::string asked_now() const { return dir_.read("asked"); }
  void let_go() const { dir_.write("go", ""); }
  bool busy() const { return scaling_->busy(); }

  std::vector<std::string> said;
  std::optional<std::uint32_t> wanted;

 private:
  test::TempDir dir_;
  JobSpec job_;
  Scaling::Taken taken_{.at = 10s, .splits = 0, .waited = 0ns};
  std::optional<Scaling> scaling_;
};

TEST_CASE("the launcher is asked for as many workers as feed the trainer", "[tools][cluster]") {
  Trainer trainer;
  trainer.second(30, 1);
  // 30 a second in 30 % of the time are 100, and 10 % more; (110 - 20) / 10 = 9.
  CHECK(trainer.said.size() == 1);
  CHECK(trainer.asked() == "9\n");
  CHECK(trainer.wanted == 9U);
}

TEST_CASE("a trainer that starves alone gets one worker to learn from", "[tools][cluster]") {
  Trainer trainer;
  trainer.second(20, 0);
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

TEST_CASE("the same number of workers is requested once, and not while it runs",
          "[tools][cluster]") {
  Trainer trainer;
  SECTION("twice") {
    trainer.second(30, 1);
    test::wait_until([&] { return !trainer.busy(); });
    trainer.second(30, 1);
    CHECK(trainer.asked() == "9\n");
  }
  SECTION("there") {
    trainer.second(100, 9);
    CHECK(trainer.asked().empty());
    CHECK(trainer.wanted == 9U);
  }
}

TEST_CASE("no second command runs beside the first, and the next decision waits for its end",
          "[tools][cluster]") {
  Trainer trainer(Trainer::Launcher::kWaits);
  trainer.second(20, 0);
  test::wait_until([&] { return trainer.asked_now() == "1\n"; });
  trainer.second(30, 1);
  trainer.second(30, 1);
  CHECK(trainer.asked_now() == "1\n");
  CHECK(trainer.said.size() == 1);
  trainer.let_go();
  test::wait_until([&] { return !trainer.busy(); });
  trainer.second(30, 1);
  CHECK(trainer.asked() == "1\n9\n");
}

}  // namespace
}  // namespace forebay
