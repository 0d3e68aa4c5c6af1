#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "tests/trainer/tested_device.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/state/snapshot.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Kind = TrainerSpec::ModelKind;

struct ModelFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 700, .dense = 4, .sparse = 3, .most_per_field = 3};

  ModelFixture() {
    spec.threads = 1;
    spec.max_table_rows = 37;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
  }

  ModelShape shape() const { return shape_of(spec, data.schema()).value(); }
  std::unique_ptr<Model> cpu() const { return make_cpu_model(spec, shape()).value(); }
  std::unique_ptr<Model> device() const {
    TrainerSpec there = spec;
    there.device = test::tested_device();
    return make_autograd_model(there, shape()).value();
  }

  std::vector<double> train(Model& model, std::uint64_t first, std::uint64_t end) {
    const ClickBatches source(pool, data);
    std::vector<double> losses;
    for (auto number = first; number < end; ++number) {
      losses.push_back(model.step(*source.make(number)).value());
    }
    return losses;
  }
};

/// The number of values that differ by more than `by`, relative to values above 1: sums of squares
/// may be large.
std::size_t count_different(const std::vector<float>& a, const std::vector<float>& b, double by) {
  REQUIRE(a.size() == b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(double{a[i]} - b[i]) > by * (1 + std::abs(double{a[i]}))) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE_METHOD(ModelFixture, "a loss that is not a number names the column that it comes from",
                 "[trainer][models]") {
  const ClickBatches source(pool, data);
  const auto batch = source.make(0);
  batch->dense[5 * data.dense] = std::numeric_limits<float>::infinity();
  const auto model = GENERATE(true, false) ? cpu() : device();
  const auto loss = model->step(*batch);
  REQUIRE_FALSE(loss);
  CHECK_THAT(loss.error().message, Catch::Contains("row 5: d is infinite;"));
}

TEST_CASE_METHOD(ModelFixture, "an update that overflows fails on its batch and names a reason",
                 "[trainer][models]") {
  // The loss is finite. The square of a gradient overflows in Adagrad's and Adam's state; plain
  // descent overflows in the weights, by its rate.
  using Optimizer = TrainerSpec::Optimizer;
  spec.optimizer = GENERATE(Optimizer::kSgd, Optimizer::kAdagrad, Optimizer::kAdam);
  if (spec.optimizer == Optimizer::kSgd) spec.learning_rate = 1e30;
  data.rows = 13;
  const auto model = GENERATE(true, false) ? cpu() : device();
  const ClickBatches source(pool, data);
  const auto batch = source.make(3);
  batch->dense[12 * data.dense + 1] = -3e30F;
  batch->dense[12 * data.dense + 2] = 2e30F;
  const auto loss = model->step(*batch);
  REQUIRE_FALSE(loss);
  CHECK_THAT(
      loss.error().message,
      Catch::StartsWith("training on batch 3 made weights or the optimizer's state infinite; "
                        "its largest dense value is d = -3e+30 in row 12; lower "));
}

TEST_CASE_METHOD(ModelFixture, "large gradients that stay finite are no fault",
                 "[trainer][models]") {
  spec.clip_norm = GENERATE(0, 1);
  const auto model = GENERATE(true, false) ? cpu() : device();
  const ClickBatches source(pool, data);
  const auto batch = source.make(0);
  batch->dense[0] = 1e15F;
  CHECK(model->step(*batch));
}

TEST_CASE_METHOD(ModelFixture, "a loss that is not a number names the table that it comes from",
                 "[trainer][models]") {
  ModelShape named = shape();
  named.sparse_names = {"shop", "item", "hour"};
  const auto model = make_cpu_model(spec, named).value();
  std::vector<test::TensorValues> values = test::state_of(*model);
  std::vector<MemoryTensor> tensors;
  for (test::TensorValues& each : values) {
    if (each.tensor.name == "table.1") each.values.back() = std::nanf("");
    tensors.push_back(in_memory(each.tensor, each.values));
  }
  REQUIRE(model->restore(*snapshot_of_memory(std::move(tensors)).value()));
  const ClickBatches source(pool, data);
  const auto batch = source.make(0);
  const auto loss = model->step(*batch);
  REQUIRE_FALSE(loss);
  CHECK_THAT(loss.error().message, Catch::Contains("as item's table has"));
}

TEST_CASE_METHOD(ModelFixture, "the loops of the cpu's model agree with autograd step by step",
                 "[trainer][models]") {
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  spec.optimizer = GENERATE(TrainerSpec::Optimizer::kSgd, TrainerSpec::Optimizer::kAdagrad);
  SECTION("one id a field") { data.most_per_field = 1; }
  SECTION("bags") {}
  SECTION("no dense features") { data.dense = 0; }
  SECTION("no sparse features") { data.sparse = 0; }
  SECTION("fewer rows than shares") { data.rows = 5; }
  SECTION("the usual width") { spec.embedding_dim = 16; }
  SECTION("adam") {
    spec.optimizer = TrainerSpec::Optimizer::kAdam;
    spec.learning_rate = 0.001;
  }
  SECTION("a value of state a row") {
    spec.table_optimizer = TrainerSpec::TableOptimizer::kRowwiseAdagrad;
  }
  SECTION("weights") { data.weights = true; }
  SECTION("the mean of a bag") { spec.pooling = TrainerSpec::Pooling::kMean; }
  SECTION("a schedule and short gradients") {
    spec.warmup_steps = 2;
    spec.decay_start = 3;
    spec.decay_steps = 4;
    spec.clip_norm = 0.05;
  }
  SECTION("other layers") {
    if (spec.model == Kind::kDlrm || spec.model == Kind::kDcnV2) spec.bottom_mlp = {8};
    spec.cross_layers = 1;
    spec.top_mlp = {32, 16, 1};
  }
  auto ours = cpu();
  auto theirs = device();
  const auto losses = train(*ours, 0, 6);
  const auto expected = train(*theirs, 0, 6);
  // Adagrad's and Adam's first steps have the same length for a gradient that is only rounding as
  // for a large one, so a few weights may move the other way.
  const bool exact = spec.optimizer == TrainerSpec::Optimizer::kSgd;
  for (std::size_t step = 0; step < losses.size(); ++step) {
    INFO("step " << step);
    CHECK(losses[step] == Approx(expected[step]).margin(exact ? 1e-5 : 2e-4));
  }
  const auto ours_state = test::state_of(*ours);
  for (const auto& [tensor, values] : test::state_of(*theirs)) {
    const auto same = std::ranges::find(ours_state, tensor, &test::TensorValues::tensor);
    INFO(tensor.name);
    REQUIRE(same != ours_state.end());
    CHECK(count_different(values, same->values, exact ? 1e-5 : 1e-3) <=
          (exact ? 0 : 3 + values.size() / 7));
  }
}

TEST_CASE_METHOD(ModelFixture, "the same batches give the same bits again", "[trainer][models]") {
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  auto one = cpu();
  auto again = cpu();
  CHECK(train(*one, 0, 5) == train(*again, 0, 5));
  CHECK(test::state_of(*one) == test::state_of(*again));
}

TEST_CASE_METHOD(ModelFixture, "a model continues from another's state as the other would",
                 "[trainer][models]") {
  const bool on_device = GENERATE(false, true);
  spec.optimizer = GENERATE(TrainerSpec::Optimizer::kAdagrad, TrainerSpec::Optimizer::kAdam);
  auto whole = on_device ? device() : cpu();
  train(*whole, 0, 3);
  spec.seed = 2;
  auto resumed = on_device ? device() : cpu();
  CHECK(test::state_of(*whole) != test::state_of(*resumed));
  REQUIRE(resumed->restore(*whole->snapshot().value()));
  CHECK(train(*whole, 3, 6) == train(*resumed, 3, 6));
  CHECK(test::state_of(*whole) == test::state_of(*resumed));
}

TEST_CASE_METHOD(ModelFixture, "predicting scores rows as training sees them and changes nothing",
                 "[trainer][models]") {
  auto model = cpu();
  train(*model, 0, 2);
  const auto before = test::state_of(*model);
  const auto batch = ClickBatches(pool, data).make(2);
  std::vector<float> scores(batch->rows);
  REQUIRE(model->predict(*batch, scores));
  CHECK(test::state_of(*model) == before);
  double loss = 0;
  for (std::size_t row = 0; row < batch->rows; ++row) {
    loss += log_loss_of(scores[row], batch->labels[row] == 1);
  }
  CHECK(model->step(*batch).value() ==
        Approx(loss / static_cast<double>(batch->rows)).epsilon(1e-6));
}

TEST_CASE_METHOD(ModelFixture, "rows that weigh 1 train as rows without weights, bit for bit",
                 "[trainer][models]") {
  const bool on_device = GENERATE(false, true);
  auto plain = on_device ? device() : cpu();
  auto weighted = on_device ? device() : cpu();
  const auto losses = train(*plain, 0, 3);
  data.weights = true;
  const ClickBatches source(pool, data);
  for (std::uint64_t number = 0; number < 3; ++number) {
    const auto batch = source.make(number);
    std::fill_n(batch->weights, batch->rows, 1.0F);
    CHECK(weighted->step(*batch).value() == losses[number]);
  }
  CHECK(test::state_of(*plain) == test::state_of(*weighted));
}

TEST_CASE_METHOD(ModelFixture, "a row that weighs 0 changes no weights", "[trainer][models]") {
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  data.weights = true;
  auto model = cpu();
  const auto before = test::state_of(*model);
  const auto batch = ClickBatches(pool, data).make(0);
  std::fill_n(batch->weights, batch->rows, 0.0F);
  CHECK(model->step(*batch).value() == 0);
  CHECK(test::state_of(*model) == before);
}

TEST_CASE_METHOD(ModelFixture, "a model learns a known rule", "[trainer][models]") {
  // With the rule's own logits as scores the AUC is about 0.84.
  data.most_per_field = 1;
  spec.max_table_rows = 50;
  auto model = cpu();
  train(*model, 0, 60);
  Evaluation evaluation;
  const ClickBatches source(pool, data);
  for (std::uint64_t number = 60; number < 70; ++number) {
    const auto batch = source.make(number);
    std::vector<float> scores(batch->rows);
    REQUIRE(model->predict(*batch, scores));
    REQUIRE(evaluation.add(scores, {batch->labels, batch->rows}));
  }
  const Quality quality = evaluation.finish();
  CHECK(quality.auc.value() > 0.8);
  CHECK(quality.log_loss.value() < 0.52);
}

TEST_CASE_METHOD(ModelFixture, "gradients are clipped to the given norm", "[trainer][models]") {
  // Plain descent at rate 1: a step changes all weights by exactly the gradients.
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  spec.learning_rate = 1;
  const auto change_of_a_step = [this] {
    auto model = cpu();
    const auto before = test::state_of(*model);
    train(*model, 0, 1);
    const auto after = test::state_of(*model);
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t k = 0; k < before[i].values.size(); ++k) {
        squares += std::pow(double{after[i].values[k]} - before[i].values[k], 2);
      }
    }
    return std::sqrt(squares);
  };
  const double whole = change_of_a_step();
  REQUIRE(whole > 0.1);
  spec.clip_norm = whole / 2;
  CHECK(change_of_a_step() == Approx(whole / 2).epsilon(1e-4));
  spec.clip_norm = whole * 2;
  CHECK(change_of_a_step() == Approx(whole).epsilon(1e-4));
}

TEST_CASE_METHOD(ModelFixture, "the learning rate follows the number of the batch",
                 "[trainer][models]") {
  spec.learning_rate = 8;
  spec.warmup_steps = 4;
  for (const bool tape : {false, true}) {
    auto model = tape ? device() : cpu();
    CHECK_FALSE(model->learning_rate());
    train(*model, 1, 2);
    CHECK(model->learning_rate() == 4);
  }
}
