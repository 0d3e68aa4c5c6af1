#include "trainer/train_bench.h"

#include <memory>
#include <span>
#include <vector>

#include "tests/support/manual_clock.h"
#include "tests/trainer/click_batches.h"
#include "trainer/model.h"
#include "trainer/state/snapshot.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Notes the numbers of the batches that are announced to it, and of those it steps on; a cancelled
/// announcement is -1.
class NotingModel final : public Model {
 public:
  bool learns() const override { return false; }
  void prefetch(std::shared_ptr<const Batch> batch) override {
    announced.push_back(batch == nullptr ? -1 : static_cast<int>(batch->number));
  }
  Result<double> step(const Batch& batch) override {
    stepped.push_back(static_cast<int>(batch.number));
    return 0.0;
  }
  Status predict(const Batch&, std::span<float>) override { return {}; }
  Result<std::unique_ptr<StateSource>> snapshot() override { return snapshot_of_memory({}); }
  Status restore(StateSource& from) override { return restore_memory(from, {}); }

  std::vector<int> announced, stepped;
};

}  // namespace

TEST_CASE("the benchmark announces batches before the model steps on them", "[trainer][bench]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  const test::ManualClock clock;
  test::ClickBatches source(pool, {.rows = 8, .batches = 20});
  NotingModel model;
  REQUIRE(bench_training(model, source, clock, {.turns = 2, .settle = 1, .steps = 1, .ahead = 2}));
  // Each turn begins anew, and what waits for the next turn of its kind is announced again.
  CHECK(model.announced ==
        std::vector{-1, 0, 1, 2, 3, -1, 0, 0, 0, 0, -1, 2, 3, 4, 5, -1, 0, 0, 0, 0});
  CHECK(model.stepped == std::vector{0, 1, 0, 0, 2, 3, 0, 0});
}

TEST_CASE("the benchmark compares a source's batches with one kept batch", "[trainer][bench]") {
  // A step takes 3 s, a batch arrives after 1 s: 4 s against 3 s, a ratio of 3/4. In each of 3
  // turns, 2 settling steps of 100 s each would distort it if they counted; so would the whole of
  // the second turn.
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  test::ManualClock clock;
  test::ClickBatches source(pool, {.rows = 8, .batches = 20});
  std::uint64_t asked = 0;
  source.before_next = [&] {
    const bool slow = asked % 5 < 2 || asked / 5 == 1;
    clock.advance(std::chrono::seconds(slow ? 100 : 1));
    ++asked;
  };
  EmulatedModel model(std::chrono::seconds(3), [&](auto time) { clock.advance(time); });
  auto bench = bench_training(model, source, clock, {.turns = 3, .settle = 2, .steps = 3});
  REQUIRE(bench);
  CHECK(asked == 15);
  CHECK(bench->fed == Approx(8.0 / 4));
  CHECK(bench->cached == Approx(8.0 / 3));
  CHECK(bench->ratio() == Approx(0.75));
}

TEST_CASE("the benchmark refuses a source that ends too early", "[trainer][bench]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  const test::ManualClock clock;
  test::ClickBatches source(pool, {.rows = 8, .batches = 3});
  EmulatedModel model(std::chrono::nanoseconds(0));
  CHECK_FALSE(bench_training(model, source, clock, {.turns = 1, .settle = 1, .steps = 5}));
}
