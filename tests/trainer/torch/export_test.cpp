#include <algorithm>
#include <cmath>
#include <filesystem>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/jit/serialization/import.h>

#include "tests/support/temp_dir.h"
#include "tests/trainer/click_batches.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Kind = TrainerSpec::ModelKind;

std::int64_t extent(std::size_t size) { return static_cast<std::int64_t>(size); }

// A batch as tensors over its own memory.
at::Tensor dense_of(const Batch& batch) {
  return at::from_blob(batch.dense, {extent(batch.rows), extent(batch.dense_features)}, at::kFloat);
}
at::Tensor ids_of(const Batch& batch) {
  return at::from_blob(batch.ids, {extent(batch.num_ids)}, at::kLong);
}
at::Tensor lengths_of(const Batch& batch) {
  return at::from_blob(batch.lengths, {extent(batch.sparse_features), extent(batch.rows)},
                       at::kInt);
}

struct ExportFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  test::TempDir temp;
  std::string file = temp.path("model.pt");
  TrainerSpec spec;
  Schema schema{.dense = {"a", "b"}, .sparse = {{"c", 5}, {"d"}}};
  ClickBatches::Options data{.rows = 64, .dense = 2, .sparse = 2, .most_per_field = 3};

  ExportFixture() {
    spec.max_table_rows = 20;
    spec.embedding_dim = 4;
    spec.threads = 1;
  }

  ModelDescription description() const {
    return {.spec = spec, .shape = shape_of(spec, schema).value()};
  }

  /// A model after some steps, and a batch with ids of both signs, half of which it has not seen.
  std::unique_ptr<Model> trained() {
    auto model = make_cpu_model(spec, shape_of(spec, schema).value()).value();
    const ClickBatches batches(pool, data);
    for (std::uint64_t number = 0; number < steps; ++number) {
      REQUIRE(model->step(*batches.make(number)));
    }
    batch = batches.make(steps);
    for (std::size_t id = 0; id < batch->num_ids; id += 2) batch->ids[id] = -batch->ids[id] - 1;
    return model;
  }

  /// A batch that names each of the `count` ids from `first` on in each column, row by row.
  std::shared_ptr<const Batch> ids_from(std::int64_t first, std::size_t count) {
    ClickBatches::Options one_each = data;
    one_each.rows = count;
    one_each.most_per_field = 1;
    auto made = ClickBatches(pool, one_each).make(0);
    for (std::size_t id = 0; id < made->num_ids; ++id) {
      made->ids[id] = first + static_cast<std::int64_t>(id % count);
    }
    return made;
  }

  /// The largest difference of the scores of `batch` by the model and by its export.
  float furthest_apart(Model& model) const {
    std::vector<float> expected(batch->rows);
    REQUIRE(model.predict(*batch, expected));
    auto loaded = torch::jit::load(file);
    const at::Tensor scores =
        loaded.forward({dense_of(*batch), ids_of(*batch), lengths_of(*batch)}).toTensor();
    REQUIRE(scores.sizes() == at::IntArrayRef{static_cast<std::int64_t>(batch->rows)});
    float most = 0;
    for (std::size_t row = 0; row < batch->rows; ++row) {
      most = std::max(most, std::abs(scores.data_ptr<float>()[row] - expected[row]));
    }
    return most;
  }

  std::uint64_t steps = 3;
  std::shared_ptr<const Batch> batch;
};

}  // namespace

TEST_CASE_METHOD(ExportFixture, "an exported model gives the trainer's scores",
                 "[trainer][export]") {
  spec.model = GENERATE(Kind::kDlrm, Kind::kDcnV2, Kind::kWideDeep, Kind::kDeepFm);
  SECTION("sums") {}
  SECTION("means") { spec.pooling = TrainerSpec::Pooling::kMean; }
  SECTION("no dense features") {
    schema.dense.clear();
    data.dense = 0;
  }
  SECTION("no sparse features") {
    schema.sparse.clear();
    data.sparse = 0;
  }
  auto model = trained();
  auto written = export_model(description(), *model->snapshot().value(), {file});
  INFO((written ? "" : written.error().message));
  REQUIRE(written);
  CHECK(written->bytes == std::filesystem::file_size(file));
  const ModelShape shape = description().shape;
  CHECK(written->parameters == shape.dense_parameters() + shape.table_parameters());
  CHECK(torch::jit::load(file).attr("forebay").toStringRef() == to_json(description()));
  CHECK(furthest_apart(*model) < 1e-6f);
}

TEST_CASE_METHOD(ExportFixture, "hashed tables are exported with the row that ids share",
                 "[trainer][export]") {
  spec.model = GENERATE(Kind::kDlrm, Kind::kDeepFm);
  spec.tables.storage = TrainerSpec::Storage::kHashed;
  std::size_t fewest = 0;
  std::size_t most = 0;  // Ids with rows of their own, in both tables.
  SECTION("some ids have rows of their own") {
    spec.max_table_rows = 30;
    spec.tables.admit_after = 7;
    fewest = 1;
    most = 2 * 29;
  }
  SECTION("nearly all ids have rows of their own") {
    spec.max_table_rows = 1000;
    spec.tables.admit_after = 1;
    fewest = 90;
    most = 2 * 50;
  }
  SECTION("no id has a row of its own") { spec.tables.admit_after = 255; }
  schema.sparse[0].bound = 0;
  auto model = trained();
  auto written = export_model(description(), *model->snapshot().value(), {file});
  INFO((written ? "" : written.error().message));
  REQUIRE(written);
  const ModelShape shape = description().shape;
  const std::uint64_t rows =
      (written->parameters - shape.dense_parameters()) / shape.row_width() - 2;
  CHECK(rows >= fewest);
  CHECK(rows <= most);
  CHECK(furthest_apart(*model) < 1e-6f);
  batch = ids_from(-60, 120);
  CHECK(furthest_apart(*model) < 1e-6f);
}

TEST_CASE_METHOD(ExportFixture, "tables in tiers are exported with every row",
                 "[trainer][export]") {
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.folder = temp.path("tables");
  spec.table_optimizer =
      GENERATE(TrainerSpec::TableOptimizer::kSgd, TrainerSpec::TableOptimizer::kAdagrad);
  spec.max_table_rows = 3000;
  schema.sparse[0].bound = 0;
  data.ids = 3000;
  data.rows = 200;
  // Few enough slots that most trained rows are on the disk, and most rows are untrained.
  const TableLayout layout = layout_of(spec, shape_of(spec, schema).value());
  while (tiered_slots(layout, spec.tables.memory_bytes) < 1300) {
    spec.tables.memory_bytes += 4096;
  }
  steps = 6;
  auto model = trained();
  auto snapshot = model->snapshot().value();
  auto written = export_model(description(), *snapshot, {file});
  INFO((written ? "" : written.error().message));
  REQUIRE(written);
  const ModelShape shape = description().shape;
  CHECK(written->parameters == shape.dense_parameters() + 2 * 3000 * shape.row_width());
  snapshot.reset();
  CHECK(furthest_apart(*model) < 1e-6f);
  for (std::int64_t first = 0; first < 3000; first += 300) {
    batch = ids_from(first, 300);
    CHECK(furthest_apart(*model) < 1e-6f);
  }
}

TEST_CASE_METHOD(ExportFixture, "a model that does not fit is not exported", "[trainer][export]") {
  auto model = trained();
  std::uint64_t announced = 0;
  ExportTarget target{.file = file};
  SECTION("in memory") {
    target.fits = [&](std::uint64_t bytes) {
      announced = bytes;
      return fail(Code::kOverloaded, "no room");
    };
  }
  SECTION("together with the source of the state") {
    target.is_whole = [] { return fail(Code::kOverloaded, "no room"); };
    const ModelShape shape = description().shape;
    announced = sizeof(float) * (shape.dense_parameters() + shape.table_parameters());
  }
  auto written = export_model(description(), *model->snapshot().value(), target);
  REQUIRE_FALSE(written);
  CHECK(written.error().message == "no room");
  const ModelShape shape = description().shape;
  CHECK(announced == sizeof(float) * (shape.dense_parameters() + shape.table_parameters()));
  CHECK(std::filesystem::is_empty(temp.path()));
}

TEST_CASE_METHOD(ExportFixture, "a state of another model is not exported", "[trainer][export]") {
  auto model = trained();
  ModelDescription other = description();
  SECTION("another extent") { other.shape.table_rows[1] = 21; }
  SECTION("a tensor more") { other.shape.table_rows.push_back(3); }
  auto written = export_model(other, *model->snapshot().value(), {file});
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Code::kCorrupt);
  CHECK(std::filesystem::is_empty(temp.path()));
}
