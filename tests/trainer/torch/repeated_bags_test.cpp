// Training on lists that several rows share, each pooled once.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/trainer/click_batches.h"
#include "tests/trainer/shared_lists.h"
#include "tests/trainer/state_values.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;
using test::SharedLists;

namespace {

using Storage = TrainerSpec::Storage;

struct Fixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 600, .dense = 4, .sparse = 5, .most_per_field = 5};

  Fixture() {
    spec.max_table_rows = 37;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
  }
  std::unique_ptr<Model> model() const {
    return make_cpu_model(spec, shape_of(spec, data.schema()).value()).value();
  }
  SharedLists batch(std::uint64_t number) {
    return {ClickBatches(pool, data).make(number), 40, number};
  }
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - b[i]));
  return most;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "scores of rows that share lists have the bits of plain ones",
                 "[trainer][repeated_bags]") {
  spec.pooling = GENERATE(TrainerSpec::Pooling::kSum, TrainerSpec::Pooling::kMean);
  spec.threads = GENERATE(1, 3);
  const SharedLists lists = batch(1);
  auto model = this->model();
  std::vector<float> plain(lists.plain.rows);
  std::vector<float> once(lists.plain.rows);
  REQUIRE(model->predict(lists.plain, plain));
  REQUIRE(model->predict(lists.once, once));
  CHECK(plain == once);
}

TEST_CASE_METHOD(Fixture, "losses and weights agree with those of plain lists step by step",
                 "[trainer][repeated_bags]") {
  spec.tables.storage = GENERATE(Storage::kMemory, Storage::kHashed);
  spec.tables.admit_after = 3;
  auto plain = model();
  auto once = model();
  for (std::uint64_t number = 0; number < 8; ++number) {
    const SharedLists lists = batch(number);
    const double left = plain->step(lists.plain).value();
    const double right = once->step(lists.once).value();
    CHECK(std::abs(left - right) < 1e-6);
  }
  const auto left = test::state_of(*plain);
  const auto right = test::state_of(*once);
  REQUIRE(left.size() == right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    INFO(left[i].tensor.name);
    if (left[i].tensor.type != ElementType::kF32) continue;
    CHECK(largest_difference(left[i].values, right[i].values) < 2e-5);
  }
}

TEST_CASE_METHOD(Fixture, "shared lists give the same bits with any threads, stored once or not",
                 "[trainer][repeated_bags]") {
  auto one = model();
  spec.threads = 3;
  auto three = model();
  for (std::uint64_t number = 0; number < 4; ++number) {
    const SharedLists lists = batch(number);
    CHECK(one->step(lists.once).value() == three->step(lists.stored).value());
  }
  CHECK(test::state_of(*one) == test::state_of(*three));
}
