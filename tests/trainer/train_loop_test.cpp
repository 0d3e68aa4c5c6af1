#include "trainer/train_loop.h"

#include <optional>
#include <set>

#include "tests/support/manual_clock.h"
#include "tests/trainer/click_batches.h"
#include "trainer/state/snapshot.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;
using test::ManualClock;

namespace {

/// Fails at the batch that a test sets, and counts its calls.
class ScriptedModel final : public Model {
 public:
  bool learns() const override { return true; }
  Result<double> step(const Batch& batch) override {
    rows += batch.rows;
    if (on_step) on_step();
    if (batch.number == fails_at) return fail(Code::kCorrupt, "this loss is none");
    return 1.0;
  }
  Status predict(const Batch& batch, std::span<float> scores) override {
    for (std::size_t row = 0; row < batch.rows; ++row) scores[row] = 2 * batch.labels[row] - 1;
    return {};
  }
  Result<std::unique_ptr<StateSource>> snapshot() override { return snapshot_of_memory({}); }
  Status restore(StateSource& from) override { return restore_memory(from, {}); }

  std::optional<std::uint64_t> fails_at;
  std::size_t rows = 0;
  std::function<void()> on_step;
};

struct LoopFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  ManualClock clock;
  ScriptedModel model;
  std::atomic<bool> stop{false};
  ClickBatches source{pool, {.rows = 8, .batches = 10}};
  TrainLoop::Options options;
  std::vector<std::uint64_t> saved;  // Batches at each checkpoint.
  std::set<std::uint64_t> busy;      // Batches after which a save is still in flight.

  Result<TrainProgress> run() {
    options.save = [this](const TrainProgress& progress) {
      saved.push_back(progress.batches);
      return !busy.contains(progress.batches);
    };
    return TrainLoop(model, source, clock, options).run(stop);
  }
};

}  // namespace

TEST_CASE_METHOD(LoopFixture, "a training run steps on every batch and reports its position",
                 "[trainer][loop]") {
  auto progress = run();
  REQUIRE(progress);
  CHECK(progress->batches == 10);
  CHECK(progress->rows == 80);
  CHECK(model.rows == 80);
  CHECK(progress->position.batches == 10);
  CHECK(progress->losses.steps() == 10);
  CHECK_FALSE(progress->stopped);
}

TEST_CASE_METHOD(LoopFixture, "the starved ratio is the share of time spent asking for data",
                 "[trainer][loop]") {
  // Each of 10 batches: 1 s of waiting, 3 s of stepping; the end of the data: another second.
  // 11 s of 41 s.
  source.before_next = [this] { clock.advance(std::chrono::seconds(1)); };
  model.on_step = [this] { clock.advance(std::chrono::seconds(3)); };
  auto progress = run();
  REQUIRE(progress);
  CHECK(progress->waited == std::chrono::seconds(11));
  CHECK(progress->stepped == std::chrono::seconds(30));
  CHECK(progress->elapsed == std::chrono::seconds(41));
  CHECK(progress->starved_ratio() == Approx(11.0 / 41));
}

TEST_CASE_METHOD(LoopFixture, "a stop ends a run between two batches", "[trainer][loop]") {
  std::uint64_t steps = 0;
  model.on_step = [&] {
    if (++steps == 4) stop = true;
  };
  auto progress = run();
  REQUIRE(progress);
  CHECK(progress->batches == 4);
  CHECK(progress->stopped);
}

TEST_CASE_METHOD(LoopFixture, "a run of at most so many batches ends there", "[trainer][loop]") {
  options.max_batches = 3;
  auto progress = run();
  REQUIRE(progress);
  CHECK(progress->batches == 3);
  CHECK_FALSE(progress->stopped);
}

TEST_CASE_METHOD(LoopFixture, "checkpoints are saved when they are due", "[trainer][loop]") {
  // Steps of 3 s, one every 7 s: due after steps 3 (9 s), 6 and 9.
  options.checkpoint_every = std::chrono::seconds(7);
  model.on_step = [this] { clock.advance(std::chrono::seconds(3)); };
  REQUIRE(run());
  CHECK(saved == std::vector<std::uint64_t>{3, 6, 9});
}

TEST_CASE_METHOD(LoopFixture, "checkpoints are saved after every so many batches",
                 "[trainer][loop]") {
  // A run that continues after batch 2: the numbers are the job's.
  ClickBatches rest(pool, {.rows = 8, .batches = 10, .first = 2});
  options.checkpoint_steps = 4;
  options.save = [&](const TrainProgress& progress) {
    saved.push_back(progress.position.batches);
    return true;
  };
  REQUIRE(TrainLoop(model, rest, clock, options).run(stop));
  CHECK(saved == std::vector<std::uint64_t>{4, 8});
}

TEST_CASE_METHOD(LoopFixture, "a checkpoint that is due while one is in flight is saved after it",
                 "[trainer][loop]") {
  options.checkpoint_steps = 3;
  busy = {3, 4};
  REQUIRE(run());
  CHECK(saved == std::vector<std::uint64_t>{3, 4, 5, 6, 9});
}

TEST_CASE_METHOD(LoopFixture, "a step that fails ends the run with its error", "[trainer][loop]") {
  model.fails_at = 2;
  auto progress = run();
  REQUIRE_FALSE(progress);
  CHECK(progress.error().message == "this loss is none");
}

TEST_CASE_METHOD(LoopFixture, "evaluating scores every row of its source", "[trainer][loop]") {
  auto quality = evaluate(model, source, Evaluation(), stop);
  REQUIRE(quality);
  REQUIRE(*quality);
  CHECK((*quality)->rows == 80);
  CHECK((*quality)->auc == 1.0);
  stop = true;
  auto stopped = evaluate(model, source, Evaluation(), stop);
  REQUIRE(stopped);
  CHECK_FALSE(*stopped);
}

TEST_CASE_METHOD(LoopFixture, "a training run that stops early ends between two steps",
                 "[trainer][loop]") {
  options.enough = [this] { return model.rows == 24; };  // Three batches of eight.
  auto progress = run();
  REQUIRE(progress);
  CHECK(progress->enough);
  CHECK_FALSE(progress->stopped);
  CHECK(progress->batches == 3);
}
