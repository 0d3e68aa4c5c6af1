// Training gives the same bits for any number of threads.
#include <algorithm>

#include "core/base/sanitizers.h"
#include "tests/support/temp_dir.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Kind = TrainerSpec::ModelKind;
using Optimizer = TrainerSpec::Optimizer;
using TableOptimizer = TrainerSpec::TableOptimizer;
using Storage = TrainerSpec::Storage;

struct ThreadsFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  test::TempDir dir;
  TrainerSpec spec;
  ClickBatches::Options data{
      .rows = 350, .dense = 4, .sparse = 3, .ids = 3000, .most_per_field = 3};
  std::uint64_t steps = 3;
  int models = 0;

  ThreadsFixture() {
    spec.max_table_rows = 3000;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
    spec.tables.evict_after = 3;
  }

  ModelShape shape() const { return shape_of(spec, data.schema()).value(); }

  /// Tiered tables have memory for any two batches, and for less than half of their rows.
  std::unique_ptr<Model> model(int threads) {
    TrainerSpec asked = spec;
    asked.threads = threads;
    asked.tables.folder = dir.path("tables" + std::to_string(models++));
    const std::size_t rows = 2 * data.rows * data.sparse * data.most_per_field / 2 + 500;
    while (spec.tables.storage == Storage::kTiered &&
           tiered_slots(layout_of(spec, shape()), asked.tables.memory_bytes) < rows) {
      asked.tables.memory_bytes += 1 << 14;
    }
    auto made = make_cpu_model(asked, shape());
    if (!made) FAIL(made.error().message);
    return std::move(*made);
  }

  /// All results of training and scoring. The state of tiered tables is left out: which rows it
  /// holds and which it links to depends on the rows in memory at that moment.
  struct Trained {
    std::vector<double> losses;
    std::vector<float> scores;
    std::vector<test::TensorValues> state;

    bool operator==(const Trained&) const = default;
  };

  Trained train(int threads) {
    // The OpenMP runtime is not instrumented.
    const auto model = this->model(FOREBAY_THREAD_SANITIZER ? 1 : threads);
    const ClickBatches source(pool, data);
    Trained trained;
    for (std::uint64_t number = 0; number < steps; ++number) {
      const auto batch = source.make(number);
      model->prefetch(batch);
      trained.losses.push_back(model->step(*batch).value());
      std::vector<float> scores(batch->rows);
      REQUIRE(model->predict(*source.make(number / 2), scores));
      trained.scores.insert(trained.scores.end(), scores.begin(), scores.end());
    }
    if (spec.tables.storage != Storage::kTiered) trained.state = test::state_of(*model);
    return trained;
  }

  void check_threads() {
    const Trained one = train(1);
    REQUIRE(one.losses.back() > 0);
    REQUIRE(std::ranges::count(one.scores, one.scores.front()) <
            static_cast<std::ptrdiff_t>(one.scores.size()));
    for (const int threads : {2, 3, 8}) {
      CAPTURE(threads);
      CHECK(train(threads) == one);
    }
  }
};

}  // namespace

TEST_CASE_METHOD(ThreadsFixture, "every network trains the same bits with 1, 2, 3 and 8 threads",
                 "[trainer][models][threads]") {
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  spec.optimizer = GENERATE(Optimizer::kSgd, Optimizer::kAdagrad, Optimizer::kAdam);
  spec.clip_norm = GENERATE(0, 0.1);
  check_threads();
}

TEST_CASE_METHOD(ThreadsFixture,
                 "every storage of tables has the same bits with 1, 2, 3 and 8 threads",
                 "[trainer][models][threads]") {
  spec.tables.storage = GENERATE(Storage::kMemory, Storage::kHashed, Storage::kTiered);
  spec.table_optimizer =
      GENERATE(TableOptimizer::kSgd, TableOptimizer::kAdagrad, TableOptimizer::kRowwiseAdagrad);
  spec.pooling = GENERATE(TrainerSpec::Pooling::kSum, TrainerSpec::Pooling::kMean);
  check_threads();
}

TEST_CASE_METHOD(ThreadsFixture, "threads change no bit where shares have several groups of rows",
                 "[trainer][models][threads]") {
  data.rows = kModelShares * kModelGroupRows + 100;
  data.most_per_field = 1;
  steps = 2;
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  spec.bottom_mlp = {64, 8};
  if (spec.model == Kind::kWideDeep || spec.model == Kind::kDeepFm) spec.bottom_mlp = {};
  spec.top_mlp = {64, 56, 1};  // More than one block of parameters.
  check_threads();
}
