#include <cmath>
#include <span>

#include "tests/trainer/click_batches.h"
#include "trainer/evaluation.h"
#include "trainer/torch/models.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

struct DlrmFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 700, .dense = 4, .sparse = 3, .most_per_field = 3};

  DlrmFixture() {
    spec.threads = 1;
    spec.max_table_rows = 37;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
  }

  ModelShape shape() const {
    Schema schema;
    for (std::size_t i = 0; i < data.dense; ++i) schema.dense.push_back("d");
    for (std::size_t i = 0; i < data.sparse; ++i) schema.sparse.push_back({"s", 0});
    return shape_of(spec, schema).value();
  }
  std::unique_ptr<Model> cpu() const { return make_cpu_dlrm(spec, shape()).value(); }
  std::unique_ptr<Model> device() const { return make_device_dlrm(spec, shape()).value(); }

  std::vector<double> train(Model& model, std::uint64_t first, std::uint64_t end) {
    const ClickBatches source(pool, data);
    std::vector<double> losses;
    for (auto number = first; number < end; ++number) {
      losses.push_back(model.step(*source.make(number)).value());
    }
    return losses;
  }
};

std::vector<float> weights_of(Model& model) {
  std::vector<float> all;
  for (const StateTensor& tensor : model.state()) {
    all.insert(all.end(), tensor.values.begin(), tensor.values.end());
  }
  return all;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE_METHOD(DlrmFixture, "the loops of the cpu's model agree with autograd step by step",
                 "[trainer][dlrm]") {
  spec.optimizer = GENERATE(TrainerSpec::Optimizer::kSgd, TrainerSpec::Optimizer::kAdagrad);
  SECTION("one id a field") { data.most_per_field = 1; }
  SECTION("bags") {}
  SECTION("no dense features") { data.dense = 0; }
  SECTION("no sparse features") { data.sparse = 0; }
  SECTION("fewer rows than shares") { data.rows = 5; }
  SECTION("the usual width") { spec.embedding_dim = 16; }
  SECTION("other layers") {
    spec.bottom_mlp = {8};
    spec.top_mlp = {32, 16, 1};
  }
  auto ours = cpu();
  auto theirs = device();
  const auto losses = train(*ours, 0, 6);
  const auto expected = train(*theirs, 0, 6);
  for (std::size_t step = 0; step < losses.size(); ++step) {
    INFO("step " << step);
    CHECK(losses[step] == Approx(expected[step]).margin(1e-5));
  }
  const auto ours_state = ours->state();
  for (const StateTensor& tensor : theirs->state()) {
    const auto same = std::ranges::find_if(ours_state, [&](const StateTensor& other) {
      return other.name == tensor.name && other.part == tensor.part;
    });
    REQUIRE(same != ours_state.end());
    INFO(tensor.name);
    CHECK(same->shape == tensor.shape);
    CHECK(largest_difference({tensor.values.begin(), tensor.values.end()},
                             {same->values.begin(), same->values.end()}) < 1e-4);
  }
}

TEST_CASE_METHOD(DlrmFixture, "the same batches give the same bits for any number of threads",
                 "[trainer][dlrm]") {
  auto one = cpu();
  auto again = cpu();
#ifdef __SANITIZE_THREAD__
  spec.threads = 1;  // The OpenMP runtime is not instrumented.
#else
  spec.threads = 3;
#endif
  auto three = cpu();
  const auto losses = train(*one, 0, 5);
  CHECK(train(*again, 0, 5) == losses);
  CHECK(train(*three, 0, 5) == losses);
  CHECK(weights_of(*one) == weights_of(*again));
  CHECK(weights_of(*one) == weights_of(*three));
}

TEST_CASE_METHOD(DlrmFixture, "a model goes on from another's state as that one would",
                 "[trainer][dlrm]") {
  const bool on_device = GENERATE(false, true);
  auto whole = on_device ? device() : cpu();
  train(*whole, 0, 3);
  spec.seed = 2;
  auto resumed = on_device ? device() : cpu();
  CHECK(weights_of(*whole) != weights_of(*resumed));
  const auto from = whole->state();
  const auto to = resumed->state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    REQUIRE(from[i].name == to[i].name);
    std::ranges::copy(from[i].values, to[i].values.begin());
  }
  resumed->state_changed();
  CHECK(train(*whole, 3, 6) == train(*resumed, 3, 6));
  CHECK(weights_of(*whole) == weights_of(*resumed));
}

TEST_CASE_METHOD(DlrmFixture, "predicting scores rows as training sees them and changes nothing",
                 "[trainer][dlrm]") {
  auto model = cpu();
  train(*model, 0, 2);
  const auto before = weights_of(*model);
  const auto batch = ClickBatches(pool, data).make(2);
  std::vector<float> scores(batch->rows);
  REQUIRE(model->predict(*batch, scores));
  CHECK(weights_of(*model) == before);
  double loss = 0;
  for (std::size_t row = 0; row < batch->rows; ++row) {
    loss += log_loss_of(scores[row], batch->labels[row] == 1);
  }
  CHECK(model->step(*batch).value() ==
        Approx(loss / static_cast<double>(batch->rows)).epsilon(1e-6));
}

TEST_CASE_METHOD(DlrmFixture, "a model learns a known rule", "[trainer][dlrm]") {
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
