#include "engine/emulated/modelled_trainer.h"

#include <chrono>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "engine/emulated/split_frame.h"
#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Numbers = std::vector<std::uint64_t>;

/// A trainer of two nodes whose steps take no time to speak of.
class TrainerFixture {
 public:
  explicit TrainerFixture(bool ordered)
      : model(two_nodes(ordered)),
        machine(model, 1, clock),
        trainer({.model = model,
                 .machine = machine,
                 .clock = clock,
                 .on_take =
                     [this](std::uint64_t number, double) {
                       taken.change([number](Numbers& all) { all.push_back(number); });
                     },
                 .on_move = [] {},
                 .on_empty = [] {}}) {}
  ~TrainerFixture() { machine.stop(); }
  TrainerFixture(const TrainerFixture&) = delete;
  TrainerFixture& operator=(const TrainerFixture&) = delete;

  /// Asks for a place for a split of the node; counts when it is given.
  void ask(std::size_t node) {
    trainer.ask_place(node, 0, [this](double) { given.change([](int& count) { ++count; }); });
  }
  int places() {
    return given.change([](const int& count) { return count; });
  }
  /// Waits until so many splits were taken, and returns their numbers.
  Numbers first(std::size_t count) {
    Numbers all;
    const bool in_time = taken.wait(
        std::chrono::seconds(60), [count](const Numbers& now) { return now.size() >= count; },
        [&all](const Numbers& now) { all = now; });
    REQUIRE(in_time);
    return all;
  }

  const SystemClock clock;
  const tuner::PipelineModel model;
  tuner::MachineThread machine;
  Synchronized<Numbers> taken;
  Synchronized<int> given;
  ModelledTrainer trainer;

 private:
  static tuner::PipelineModel two_nodes(bool ordered) {
    tuner::PipelineModel model = tuner::line_of({tuner::stage("load", 0.01)});
    model.prefetch_splits = 2;
    model.stages.back().ordered = ordered;
    model.nodes = {{.name = "n1", .cpus = 1, .memory_bytes = 1'000'000'000, .trainer = true},
                   {.name = "n2", .cpus = 1, .memory_bytes = 1'000'000'000}};
    return model;
  }
};

TEST_CASE("places in the prefetch queue go to the nodes in the order of their questions",
          "[engine][emulated]") {
  TrainerFixture fixture(false);
  for (const std::size_t node : {0U, 1U, 1U}) fixture.ask(node);
  CHECK(fixture.places() == 2);  // All that the prefetch has.
  CHECK(fixture.trainer.queued() == 2);
  fixture.trainer.arrived({.key = 7, .node = 1, .ready = 0});
  CHECK(fixture.first(1) == Numbers{7});
  CHECK(fixture.places() == 3);  // The split that was taken left its place to the third.
}

TEST_CASE("a lost node gives its places back and asks for no more", "[engine][emulated]") {
  TrainerFixture fixture(false);
  for (const std::size_t node : {1U, 1U, 1U, 0U}) fixture.ask(node);
  CHECK(fixture.places() == 2);
  fixture.trainer.forget(1);
  CHECK(fixture.places() == 3);  // The other node's, not the lost node's third.
  CHECK(fixture.trainer.queued() == 1);
}

TEST_CASE("a larger prefetch gives places to those that wait", "[engine][emulated]") {
  TrainerFixture fixture(false);
  for (int i = 0; i < 4; ++i) fixture.ask(0);
  CHECK(fixture.places() == 2);
  fixture.trainer.set_prefetch(3);
  CHECK(fixture.places() == 3);
}

TEST_CASE("with order every split has a place, and the trainer takes them by number",
          "[engine][emulated]") {
  TrainerFixture fixture(true);
  for (const std::size_t node : {0U, 1U, 0U, 1U}) fixture.ask(node);
  CHECK(fixture.places() == 4);
  for (const std::uint64_t number : {2U, 1U, 3U}) {
    fixture.trainer.arrived({.key = number, .node = 1, .ready = 0});
  }
  fixture.trainer.arrived({.key = 0, .node = 0, .ready = 0});
  CHECK(fixture.first(4) == Numbers{0, 1, 2, 3});
}

TEST_CASE("a modelled split comes off the wire as it went onto it", "[engine][emulated]") {
  const Frames frames = frames_of({.key = 5, .node = 1, .ready = 0.125});
  const auto read = split_of(5, frames, 2);
  REQUIRE(read);
  CHECK(read->key == 5);
  CHECK(read->node == 1);
  CHECK(read->ready == 0.125);
  CHECK(split_of(5, frames, 1).error().code == Code::kCorrupt);  // There is no node 1.
  CHECK(split_of(5, {}, 2).error().code == Code::kCorrupt);
  const Frames cut = {Frame(frames[0].keeper(), frames[0].data(), frames[0].size() - 1)};
  CHECK(split_of(5, cut, 2).error().code == Code::kCorrupt);
}

}  // namespace
}  // namespace forebay
