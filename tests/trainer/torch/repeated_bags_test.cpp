// Training on lists that several rows share, each pooled once.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Storage = TrainerSpec::Storage;

/// A batch in which rows share the lists of features 0 and 2, and with them the index that says so.
struct SharedLists {
  SharedLists(std::shared_ptr<const Batch> drawn, std::size_t unique, std::uint64_t seed)
      : base(std::move(drawn)), plain(*base, 0), once(*base, 0), stored(*base, 0) {
    Random random(seed);
    std::vector<std::uint32_t> number_of(unique, ~0U);
    for (std::size_t row = 0; row < base->rows; ++row) {
      std::uint32_t& number = number_of[random.below(static_cast<std::uint32_t>(unique))];
      if (number == ~0U) {
        number = static_cast<std::uint32_t>(first_rows.size());
        first_rows.push_back(static_cast<std::uint32_t>(row));
      }
      numbers.push_back(number);
    }
    for (std::size_t feature = 0; feature < base->sparse_features; ++feature) {
      for (std::size_t row = 0; row < base->rows; ++row) {
        const bool shares = feature != 1;
        append(feature, shares ? first_rows[numbers[row]] : row);
        if (shares && first_rows[numbers[row]] != row) continue;
        stored_ids.insert(stored_ids.end(), ids.end() - lengths.back(), ids.end());
      }
    }
    for (View* view : {&plain, &once, &stored}) {
      view->batch.lengths = lengths.data();
      view->batch.ids = ids.data();
      view->batch.num_ids = ids.size();
    }
    for (View* view : {&once, &stored}) {
      view->batch.repeats.push_back({.features = {.sparse = {0, 2}},
                                     .unique = first_rows.size(),
                                     .numbers = numbers.data(),
                                     .first_rows = first_rows.data()});
    }
    stored.batch.lists_once = true;
    stored.batch.ids = stored_ids.data();
    stored.batch.num_ids = stored_ids.size();
  }

  struct View {
    View(const Batch& of, int) {
      batch.number = of.number;
      batch.rows = batch.whole_rows = of.rows;
      batch.dense_features = of.dense_features;
      batch.sparse_features = of.sparse_features;
      batch.labels = of.labels;
      batch.dense = of.dense;
    }
    Batch batch;
  };

  void append(std::size_t feature, std::size_t row) {
    const std::int32_t* all = base->lengths + feature * base->rows;
    const std::int64_t* from = base->ids;
    for (const std::int32_t* at = base->lengths; at != all + row; ++at) from += *at;
    lengths.push_back(all[row]);
    ids.insert(ids.end(), from, from + all[row]);
  }

  std::shared_ptr<const Batch> base;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint32_t> first_rows;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> stored_ids;
  View plain;
  View once;
  View stored;  // with Batch::lists_once
};

struct Fixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 600, .dense = 4, .sparse = 3, .most_per_field = 5};

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
  std::vector<float> plain(lists.plain.batch.rows);
  std::vector<float> once(lists.plain.batch.rows);
  REQUIRE(model->predict(lists.plain.batch, plain));
  REQUIRE(model->predict(lists.once.batch, once));
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
    const double left = plain->step(lists.plain.batch).value();
    const double right = once->step(lists.once.batch).value();
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
    CHECK(one->step(lists.once.batch).value() == three->step(lists.stored.batch).value());
  }
  CHECK(test::state_of(*one) == test::state_of(*three));
}
