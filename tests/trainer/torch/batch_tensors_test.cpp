#include "trainer/torch/batch_tensors.h"

#include "tests/trainer/click_batches.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a batch's tensors are its own buffers", "[trainer][batch]") {
  MemoryBudget budget(1 << 20);
  BufferPool pool(budget);
  const test::ClickBatches source(pool, {.rows = 8, .dense = 3, .sparse = 2});
  const auto batch = source.make(0);

  const at::Tensor dense = dense_tensor(*batch, 2, 5);
  CHECK(dense.data_ptr<float>() == batch->dense + 6);
  CHECK(dense.sizes() == at::IntArrayRef({5, 3}));
  CHECK(labels_tensor(*batch).data_ptr<float>() == batch->labels);
  CHECK(ids_tensor(*batch).data_ptr<std::int64_t>() == batch->ids);
  CHECK(lengths_tensor(*batch).data_ptr<std::int32_t>() == batch->lengths);
  CHECK(lengths_tensor(*batch).sizes() == at::IntArrayRef({2, 8}));
}
