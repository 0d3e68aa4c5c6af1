#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "core/base/random.h"
#include "tests/support/temp_dir.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/shared_lists.h"
#include "tests/trainer/state_values.h"
#include "tests/trainer/tested_device.h"
#include "trainer/device_memory.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using Storage = TrainerSpec::Storage;

/// Three tables of 37 rows; a batch names at most 36 of the 111.
struct DeviceFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  test::TempDir dir;
  TrainerSpec spec;
  ClickBatches source{pool, {.rows = 4, .dense = 4, .sparse = 3, .most_per_field = 3}};
  int models = 0;

  DeviceFixture() {
    spec.threads = 1;
    spec.device = test::tested_device();
    spec.max_table_rows = 37;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
    spec.tables.admit_after = 2;
    spec.tables.evict_after = 12;
  }

  ModelShape shape() const {
    const Schema schema{.dense = {"a", "b", "c", "d"}, .sparse = {{"e"}, {"f"}, {"g"}}};
    return shape_of(spec, schema).value();
  }
  /// A spec with memory for so many rows: on the device, and on the host if tables are tiered.
  TrainerSpec with(Storage storage, std::uint64_t rows) {
    TrainerSpec asked = spec;
    const TableLayout layout = layout_of(spec, shape());
    asked.tables.storage = storage;
    asked.tables.folder = dir.path("tables" + std::to_string(models++));
    asked.tables.device_memory_bytes = rows * layout.row_bytes();
    while (storage == Storage::kTiered && tiered_slots(layout, asked.tables.memory_bytes) < rows) {
      asked.tables.memory_bytes += 1 << 11;
    }
    return asked;
  }
  std::unique_ptr<Model> device(Storage storage, std::uint64_t rows) {
    auto model = make_autograd_model(with(storage, rows), shape());
    if (!model) FAIL(model.error().message);
    return std::move(*model);
  }
  std::unique_ptr<Model> cpu(Storage storage, std::uint64_t rows) {
    TrainerSpec asked = with(storage, rows);
    asked.device = "cpu";
    return make_cpu_model(asked, shape()).value();
  }

  std::vector<float> scores(Model& model, std::uint64_t number) const {
    std::vector<float> all(4);
    REQUIRE(model.predict(*source.make(number), all));
    return all;
  }
  /// The content of tables and network, as far as scores depend on it.
  std::vector<float> all_scores(Model& model) const {
    std::vector<float> all;
    for (std::uint64_t number = 1000; number < 1060; ++number) {
      const auto some = scores(model, number);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  /// Losses of batches [first, end), most of them announced up to `ahead` steps before.
  std::vector<double> train(Model& model, std::uint64_t first, std::uint64_t end,
                            std::uint64_t ahead) const {
    std::vector<std::shared_ptr<const Batch>> batches;
    batches.reserve(end - first);
    for (auto number = first; number < end; ++number) batches.push_back(source.make(number));
    Random random(first + 1);
    std::vector<double> losses;
    std::size_t announced = 0;
    for (std::size_t at = 0; at < batches.size(); ++at) {
      for (; announced < std::min<std::size_t>(batches.size(), at + ahead); ++announced) {
        if (announced >= at && random.below(8) != 0) model.prefetch(batches[announced]);
      }
      const auto loss = model.step(*batches[at]);
      if (!loss) FAIL(loss.error().message);
      losses.push_back(*loss);
      if (random.below(5) == 0) scores(model, 2000 + at);
    }
    return losses;
  }
};

constexpr std::uint64_t kAll = 111;
constexpr std::uint64_t kFew = 72;  // Two batches fit.

}  // namespace

TEST_CASE_METHOD(DeviceFixture, "hot rows on the device train as whole tables there, bit for bit",
                 "[trainer][device]") {
  spec.optimizer = GENERATE(TrainerSpec::Optimizer::kSgd, TrainerSpec::Optimizer::kAdagrad);
  spec.table_optimizer = spec.optimizer == TrainerSpec::Optimizer::kSgd
                             ? TrainerSpec::TableOptimizer::kSgd
                             : GENERATE(TrainerSpec::TableOptimizer::kAdagrad,
                                        TrainerSpec::TableOptimizer::kRowwiseAdagrad);
  const std::uint64_t ahead = GENERATE(0, 2, 8);
  auto whole = device(Storage::kMemory, kAll);
  const auto losses = train(*whole, 0, 60, 0);
  const auto expected = all_scores(*whole);
  for (const Storage storage : {Storage::kMemory, Storage::kTiered}) {
    auto few = device(storage, kFew);
    CHECK(train(*few, 0, 60, ahead) == losses);
    CHECK(all_scores(*few) == expected);
    if (storage == Storage::kMemory) CHECK(test::state_of(*few) == test::state_of(*whole));
  }
  auto hashed = device(Storage::kHashed, kAll);
  auto few = device(Storage::kHashed, kFew);
  CHECK(train(*few, 0, 60, ahead) == train(*hashed, 0, 60, 0));
  CHECK(test::state_of(*few) == test::state_of(*hashed));
}

TEST_CASE_METHOD(DeviceFixture, "a model on a device trains as on the cpu whatever its storage",
                 "[trainer][device]") {
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  const Storage storage = GENERATE(Storage::kMemory, Storage::kHashed, Storage::kTiered);
  auto ours = cpu(storage, kAll);
  auto theirs = device(storage, kFew);
  const auto losses = train(*ours, 0, 30, 4);
  const auto others = train(*theirs, 0, 30, 4);
  for (std::size_t step = 0; step < losses.size(); ++step) {
    CHECK(others[step] == Approx(losses[step]).margin(1e-5));
  }
  const auto expected = all_scores(*ours);
  const auto got = all_scores(*theirs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i] == Approx(expected[i]).margin(1e-5));
  }
}

TEST_CASE_METHOD(DeviceFixture, "lists that rows share train as lists of each row on a device",
                 "[trainer][device]") {
  const Storage storage = GENERATE(Storage::kMemory, Storage::kHashed);
  spec.pooling = GENERATE(TrainerSpec::Pooling::kSum, TrainerSpec::Pooling::kMean);
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  ClickBatches many{pool, {.rows = 40, .dense = 4, .sparse = 3, .most_per_field = 5}};
  auto plain = device(storage, kAll);
  auto once = device(storage, kAll);
  auto stored = device(storage, kAll);
  for (std::uint64_t number = 0; number < 20; ++number) {
    const test::SharedLists lists(many.make(number), 7, number);
    std::vector<float> scores(40), shared(40);
    REQUIRE(plain->predict(lists.plain, scores));
    REQUIRE(stored->predict(lists.stored, shared));
    if (number == 0) CHECK(scores == shared);
    const double loss = plain->step(lists.plain).value();
    const double loss_of_shared = stored->step(lists.stored).value();
    CHECK(std::abs(loss_of_shared - loss) < 1e-5);
    CHECK(once->step(lists.once).value() == loss_of_shared);
  }
}

TEST_CASE_METHOD(DeviceFixture, "a device's snapshot is of its moment while training goes on",
                 "[trainer][device]") {
  const Storage storage = GENERATE(Storage::kMemory, Storage::kHashed, Storage::kTiered);
  auto model = device(storage, kFew);
  train(*model, 0, 10, 4);
  const auto expected = all_scores(*model);
  auto resumed = device(storage, kFew);
  train(*resumed, 30, 33, 4);
  auto snapshot = model->snapshot().value();
  Status restored;
  std::thread reader([&] { restored = resumed->restore(*snapshot); });
  const auto losses = train(*model, 10, 20, 4);
  reader.join();
  REQUIRE(restored);
  snapshot.reset();
  CHECK(all_scores(*resumed) == expected);
  CHECK(train(*resumed, 10, 20, 4) == losses);
}

TEST_CASE_METHOD(DeviceFixture,
                 "batches that were announced and not trained leave the model unchanged",
                 "[trainer][device]") {
  auto model = device(Storage::kTiered, kFew);
  auto plain = device(Storage::kMemory, kAll);
  for (std::uint64_t round = 0; round < 6; ++round) {
    for (std::uint64_t number = 0; number < 6; ++number) {
      model->prefetch(source.make(100 * round + number));
    }
    if (round % 2 == 0) model->prefetch(nullptr);
    CHECK(train(*model, 10 * round, 10 * round + 4, 3) ==
          train(*plain, 10 * round, 10 * round + 4, 0));
  }
  CHECK(all_scores(*model) == all_scores(*plain));
}

TEST_CASE_METHOD(DeviceFixture, "a batch of other features is refused by its number",
                 "[trainer][device]") {
  auto model = device(Storage::kMemory, kAll);
  const auto other = ClickBatches(pool, {.rows = 4, .dense = 2, .sparse = 3}).make(7);
  const auto refused = model->step(*other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("batch 7 has 4 rows of 2 dense features"));
}
