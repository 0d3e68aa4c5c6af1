#include <cmath>
#include <vector>

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/from_blob.h>

#include "tests/trainer/click_batches.h"
#include "trainer/torch/libtorch.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

TEST_CASE("the loss of weighted rows is PyTorch's, in every network", "[trainer][models]") {
  MemoryBudget budget(std::size_t{1} << 30);
  BufferPool pool(budget);
  using Kind = TrainerSpec::ModelKind;
  TrainerSpec spec;
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  spec.threads = 1;
  spec.max_table_rows = 37;
  spec.embedding_dim = 8;
  const ClickBatches::Options data{.rows = 700, .most_per_field = 3, .weights = true};
  const ModelShape shape = shape_of(spec, data.schema()).value();
  const auto model = GENERATE(true, false) ? make_cpu_model(spec, shape).value()
                                           : make_autograd_model(spec, shape).value();
  const ClickBatches source(pool, data);
  for (std::uint64_t number = 0; number < 3; ++number) {
    const auto batch = source.make(number);
    std::vector<float> scores(batch->rows);
    REQUIRE(model->predict(*batch, scores));
    const auto tensor = [&](float* values) {
      return at::from_blob(values, {extent(batch->rows)}, at::kFloat);
    };
    const at::Tensor loss = at::binary_cross_entropy_with_logits(
        tensor(scores.data()), tensor(batch->labels), tensor(batch->weights));
    CHECK(model->step(*batch).value() == Approx(loss.item<double>()).epsilon(1e-5));
  }
}
