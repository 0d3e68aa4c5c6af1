// Networks whose matrix products take operands in bfloat16.

#include "trainer/torch/kernels/bf16.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/sanitizers.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/state_values.h"
#include "tests/trainer/tested_device.h"
#include "trainer/model.h"
#include "trainer/spec.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Kind = TrainerSpec::ModelKind;
using Precision = TrainerSpec::Precision;

/// The root of the mean square of the differences.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - b[i], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

struct Bf16Fixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 1000, .dense = 20, .sparse = 3};

  Bf16Fixture() {
    spec.threads = 1;
    spec.max_table_rows = 50;
    spec.embedding_dim = 16;
    // Adagrad's first steps are as long for a gradient that is only rounding.
    spec.optimizer = TrainerSpec::Optimizer::kSgd;
    spec.learning_rate = 0.3;
    spec.cross_rank = 24;
    spec.top_mlp = {48, 32, 1};
  }

  void use(Kind kind) {
    spec.model = kind;
    if (kind == Kind::kDlrm || kind == Kind::kDcnV2) spec.bottom_mlp = {32, 16};
  }

  std::unique_ptr<Model> model(Precision precision) const {
    TrainerSpec asked = spec;
    asked.precision = precision;
    auto made = make_cpu_model(asked, shape_of(asked, data.schema()).value());
    if (!made) FAIL(made.error().message);
    return std::move(*made);
  }

  std::unique_ptr<Model> model_on_device(Precision precision) const {
    TrainerSpec asked = spec;
    asked.precision = precision;
    asked.device = test::tested_device();
    auto made = make_autograd_model(asked, shape_of(asked, data.schema()).value());
    if (!made) FAIL(made.error().message);
    return std::move(*made);
  }

  /// Trains both, and compares losses and scores.
  void check_trains_alike(Model& rounded, Model& exact) {
    const auto exact_losses = train(exact, 8);
    const auto rounded_losses = train(rounded, 8);
    CHECK(exact_losses.back() < 0.97 * exact_losses.front());
    for (std::size_t i = 0; i < exact_losses.size(); ++i) {
      CAPTURE(i);
      CHECK(rounded_losses[i] != exact_losses[i]);
      CHECK(rounded_losses[i] == Approx(exact_losses[i]).epsilon(2e-3));
    }
    const auto logits = scores(exact);
    CHECK(distance(scores(rounded), logits) <
          0.05 * distance(logits, std::vector<float>(data.rows)));
  }

  std::vector<double> train(Model& model, std::uint64_t steps) {
    const ClickBatches source(pool, data);
    std::vector<double> losses;
    for (std::uint64_t i = 0; i < steps; ++i) losses.push_back(model.step(*source.make(i)).value());
    return losses;
  }

  std::vector<float> scores(Model& model) {
    std::vector<float> made(data.rows);
    REQUIRE(model.predict(*ClickBatches(pool, data).make(9), made));
    return made;
  }
};

}  // namespace

TEST_CASE_METHOD(Bf16Fixture, "a network in bfloat16 trains as in float32 but for rounding",
                 "[trainer][models][bf16]") {
  if (!machine_multiplies_bf16()) return;
  use(GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm));
  check_trains_alike(*model(Precision::kBf16), *model(Precision::kFp32));
}

TEST_CASE_METHOD(Bf16Fixture,
                 "a network in bfloat16 trains on a device as in float32 but for rounding",
                 "[trainer][device][bf16]") {
  use(GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm));
  check_trains_alike(*model_on_device(Precision::kBf16), *model_on_device(Precision::kFp32));
}

TEST_CASE_METHOD(Bf16Fixture,
                 "a device rounds the layers that a cpu rounds, to almost the same values",
                 "[trainer][device][bf16]") {
  if (!machine_multiplies_bf16()) return;
  use(GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm));
  const auto here = model(Precision::kBf16);
  const auto there = model_on_device(Precision::kBf16);
  const auto exact = model(Precision::kFp32);
  REQUIRE(there->restore(*here->snapshot().value()));
  const auto logits = scores(*here);
  CHECK(distance(scores(*there), logits) < 0.5 * distance(scores(*exact), logits));
}

TEST_CASE_METHOD(Bf16Fixture, "threads change no bit of a network in bfloat16",
                 "[trainer][models][bf16]") {
  if (!machine_multiplies_bf16() || FOREBAY_THREAD_SANITIZER) return;
  use(GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kDeepFm));
  data.rows = kModelShares * kModelGroupRows + 100;  // Some shares have two groups.
  const auto one = model(Precision::kBf16);
  const auto losses = train(*one, 3);
  spec.threads = 3;
  const auto three = model(Precision::kBf16);
  CHECK(train(*three, 3) == losses);
  CHECK(test::state_of(*three) == test::state_of(*one));
}

TEST_CASE_METHOD(Bf16Fixture, "the state of a network in bfloat16 is that of one in float32",
                 "[trainer][models][bf16]") {
  if (!machine_multiplies_bf16()) return;
  use(GENERATE(Kind::kDlrm, Kind::kDcnV2));
  const auto rounded = model(Precision::kBf16);
  train(*rounded, 30);  // Until the cross layers' biases, at first 0, matter.
  spec.seed = 2;
  const auto exact = model(Precision::kFp32);
  REQUIRE(exact->restore(*rounded->snapshot().value()));
  CHECK(test::state_of(*exact) == test::state_of(*rounded));
  const auto logits = scores(*exact);
  CHECK(distance(scores(*rounded), logits) <
        0.02 * distance(logits, std::vector<float>(data.rows)));
}

TEST_CASE_METHOD(Bf16Fixture, "layers narrower than 16 keep the bits of float32",
                 "[trainer][models][bf16]") {
  if (!machine_multiplies_bf16()) return;
  data.rows = 300;
  spec.cross_rank = 15;
  spec.top_mlp = {15, 15, 1};
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2);
  spec.bottom_mlp = {15, 16};
  const auto exact = model(Precision::kFp32);
  const auto rounded = model(Precision::kBf16);
  CHECK(train(*rounded, 2) == train(*exact, 2));
  CHECK(test::state_of(*rounded) == test::state_of(*exact));
  CHECK(train(*model_on_device(Precision::kBf16), 2) ==
        train(*model_on_device(Precision::kFp32), 2));
}
