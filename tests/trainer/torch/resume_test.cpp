#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/saver.h"
#include "trainer/torch/module_functions.h"
#include "trainer/train_loop.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

struct ResumeFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  test::TempDir temp;
  test::ManualClock clock;
  std::atomic<bool> stop{false};
  TrainerSpec spec;

  ResumeFixture() {
    spec.threads = 1;
    spec.max_table_rows = 64;
    spec.embedding_dim = 8;
  }

  std::unique_ptr<Model> model() const {
    const Schema schema{.dense = {"a", "b", "c", "d"}, .sparse = {{"e"}, {"f"}, {"g"}}};
    return make_cpu_model(spec, shape_of(spec, schema).value()).value();
  }

  /// Trains from `options.start` to batch `end` of 12, saving at the end.
  TrainProgress train(Model& model, TrainLoop::Options options, std::uint64_t end) {
    auto store = CheckpointStore::open(temp.path()).value();
    test::ClickBatches source(pool, {.rows = 100, .batches = end, .first = options.start.batches});
    const TrainProgress progress = TrainLoop(model, source, clock, options).run(stop).value();
    Saver saver(store, clock, {});
    const auto ended = saver.finish(model, {{progress.position, "f", {}}, progress.losses});
    CHECK(ended.batches_lost == 0);
    return progress;
  }
};

}  // namespace

TEST_CASE_METHOD(ResumeFixture, "training that is resumed ends with the bits of training at once",
                 "[trainer][resume]") {
  spec.optimizer = GENERATE(TrainerSpec::Optimizer::kSgd, TrainerSpec::Optimizer::kAdagrad);
  auto whole = model();
  const TrainProgress expected = train(*whole, {}, 12);
  REQUIRE(CheckpointStore::open(temp.path()).value().clear());

  auto first = model();
  train(*first, {}, 5);
  spec.seed = 7;  // Weights that the checkpoint must replace.
  auto resumed = model();
  auto found =
      CheckpointStore::open(temp.path()).value().restore_last(*resumed, [](const Checkpoint&) {
        return Status();
      });
  REQUIRE(found);
  REQUIRE(found->checkpoint);
  const TrainState& state = found->checkpoint->state;
  CHECK(state.loader.position.batches == 5);
  TrainLoop::Options options;
  options.start = state.loader.position;
  options.losses = state.losses;
  const TrainProgress progress = train(*resumed, options, 12);

  CHECK(progress.batches == 7);
  CHECK(progress.position == expected.position);
  CHECK(progress.losses == expected.losses);
  CHECK(test::state_of(*resumed) == test::state_of(*whole));
  CHECK(test::state_of(*resumed) != test::state_of(*first));
}
