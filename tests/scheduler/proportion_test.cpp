#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduler/sim_process.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;

/// A trainer that takes every split, and workers without faults: counts the splits that each worker
/// makes, in simulated time.
class Uneven {
 public:
  explicit Uneven(const std::vector<SimSplitExecutor::Options>& nodes) {
    job_.splits = 300;
    job_.epochs = 1;
    job_.window = 24;
    trainer_ = std::make_unique<SimTrainer>(
        network_, disk_, job_, Handed{},
        SimTrainer::Options{.head_is_here = true, .local = std::nullopt, .step_time = 1ms});
    for (const SimSplitExecutor::Options& node : nodes) {
      const std::string name = "w" + std::to_string(workers_.size());
      workers_.push_back(std::make_unique<SimWorker>(network_, name, 1, job_, node));
    }
  }

  /// Runs until the last split is made; false when that takes a minute.
  bool run() {
    constexpr Time kStep = 10ms;
    while (now < 60s && !trainer_->closed) {
      now += kStep;
      network_.step(now);
      std::vector<SimProcess*> processes = {trainer_.get()};
      for (const auto& worker : workers_) processes.push_back(worker.get());
      for (SimProcess* process : processes) {
        process->pass(kStep);
        process->run();
      }
    }
    return trainer_->closed;
  }

  /// Splits that a worker made, over those of the whole job.
  double share(std::size_t worker) {
    SimWorker& one = *workers_.at(worker);
    auto asked = ask(one.worker, QueryWorker{}, 1s);
    one.host.deliver_all();
    return static_cast<double>(asked.wait().value().splits_done) / static_cast<double>(job_.splits);
  }

  Time now = {};

 private:
  SimJob job_;
  test::SimNetwork network_{1};
  test::SimDisk disk_{1};
  std::unique_ptr<SimTrainer> trainer_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
};

SimSplitExecutor::Options node(std::uint32_t cores, Time split_time) {
  SimSplitExecutor::Options options;
  options.cores = cores;
  options.slots = cores + 2;
  options.split_time = split_time;
  return options;
}

}  // namespace

TEST_CASE("a node that is half as fast makes half as much, and neither waits for the other",
          "[scheduler][cluster]") {
  const auto [fast, slow] = GENERATE(std::pair{node(2, 200ms), node(2, 400ms)},
                                     std::pair{node(4, 200ms), node(2, 200ms)});
  Uneven nodes({fast, slow});
  REQUIRE(nodes.run());
  CHECK(nodes.share(0) + nodes.share(1) == 1);
  CHECK(nodes.share(1) > 0.30);  // A third; dealt out in equal parts it would be a half.
  CHECK(nodes.share(1) < 0.36);
  // Together they make 2 / 0.2 + 2 / 0.4 = 15 splits a second, or 30: within a tenth of that.
  const double rate =
      fast.cores / 0.2 + slow.cores / std::chrono::duration<double>(slow.split_time).count();
  CHECK(nodes.now < std::chrono::duration<double>(1.1 * 300 / rate));
}

TEST_CASE("nodes that are alike make alike", "[scheduler][cluster]") {
  Uneven even({node(2, 200ms), node(2, 200ms)});
  REQUIRE(even.run());
  CHECK(even.share(1) > 0.47);
  CHECK(even.share(1) < 0.53);
}

}  // namespace forebay::scheduler
