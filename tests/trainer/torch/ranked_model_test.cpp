#include <cmath>
#include <map>
#include <thread>

#include "core/base/sanitizers.h"
#include "engine/ranks/batch_slice.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thread_collective.h"
#include "tests/support/wait_until.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/shared_lists.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"
#include "trainer/torch/module_functions.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

using State = std::map<std::string, std::vector<float>>;

State state_of(Model& model) {
  State state;
  auto source = model.snapshot().value();
  for (std::size_t i = 0; i < source->tensors().size(); ++i) {
    const StateTensor& tensor = source->tensors()[i];
    if (tensor.type != ElementType::kF32) continue;
    std::vector<float> values(tensor.bytes() / sizeof(float));
    REQUIRE(source->read(i, 0, std::as_writable_bytes(std::span(values))));
    const bool optimizer = tensor.part == StateTensor::Part::kOptimizer;
    state[tensor.name + (optimizer ? " optimizer" : "")] = std::move(values);
  }
  return state;
}

/// The metadata of tables beside weights, as bytes.
std::map<std::string, std::vector<std::byte>> metadata_of(Model& model) {
  std::map<std::string, std::vector<std::byte>> metadata;
  auto source = model.snapshot().value();
  for (std::size_t i = 0; i < source->tensors().size(); ++i) {
    const StateTensor& tensor = source->tensors()[i];
    if (tensor.part != StateTensor::Part::kTables) continue;
    std::vector<std::byte>& bytes = metadata[tensor.name];
    bytes.resize(tensor.bytes());
    REQUIRE(source->read(i, 0, bytes));
  }
  return metadata;
}

/// The results of training on one rank.
struct Trained {
  std::vector<double> losses;
  std::vector<float> scores;
  LookupCounts lookups;
  State state;
  std::map<std::string, std::vector<std::byte>> metadata;
};

struct RankedFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  TrainerSpec spec;
  ClickBatches::Options data{.rows = 192, .dense = 4, .sparse = 5, .most_per_field = 3};
  std::size_t tail = 7;  // rows of the last batch
  std::uint64_t steps = 12;
  std::uint64_t bad_batch = ~std::uint64_t{0};
  std::size_t bad_row = 0;
  float bad_value = std::nanf("");
  std::uint64_t ahead = 0;  // batches that are announced ahead
  bool shares = false;      // whether rows share lists, which the batch has once
  test::TempDir dir;

  RankedFixture() {
    spec.threads = 1;
    spec.max_table_rows = 37;
    spec.embedding_dim = 8;
    spec.learning_rate = 0.05;
  }

  ModelShape shape() const { return shape_of(spec, data.schema()).value(); }

  std::shared_ptr<const Batch> rows_of(std::uint64_t number, int rank, int ranks) {
    ClickBatches::Options these = data;
    if (number + 1 == steps) these.rows = tail;
    const auto batch = ClickBatches(pool, these).make(number);
    if (number == bad_batch) batch->dense[bad_row * data.dense] = bad_value;
    const auto [first, end] = rows_of_rank(batch->rows, rank, ranks);
    if (!shares) return slice_rows(*batch, first, end, pool);
    return slice_rows(test::SharedLists(batch, 20, number).stored, first, end, pool);
  }

  /// The ids of a batch for the tables of `rank`, as rank 0 divides it.
  std::shared_ptr<const Batch> ids_of(std::uint64_t number, int rank, int ranks) {
    const auto whole = rows_of(number, 0, 1);
    if (ranks == 1) return copy_ids(*whole, pool);  // A trainer alone has all tables in one place.
    const TablePlacement placement = place_tables(spec, shape(), ranks);
    BatchDivider divider(shape().table_rows, shards_of_rank(placement, rank), ranks);
    REQUIRE(divider.divide(*whole));
    return copy_ids(divider.sharded(), pool);
  }

  Trained train(Collective* collective) {
    const int rank = collective == nullptr ? 0 : collective->rank();
    const int ranks = collective == nullptr ? 1 : collective->size();
    auto model = make_cpu_model(spec, shape(), collective).value();
    Trained trained;
    std::uint64_t announced = 0;
    for (std::uint64_t number = 0; number < steps; ++number) {
      for (; announced < std::min(number + ahead, steps); ++announced) {
        // Every fifth batch is not announced.
        if (announced >= number && announced % 5 != 4)
          model->prefetch(ids_of(announced, rank, ranks));
      }
      trained.losses.push_back(model->step(*rows_of(number, rank, ranks)).value());
    }
    trained.lookups = model->lookups();
    // An announcement does not affect scoring.
    if (ahead > 0) model->prefetch(ids_of(3, rank, ranks));
    // Rank 0 scores all rows of a batch, the others score no rows.
    Batch nothing;
    nothing.dense_features = data.dense;
    nothing.sparse_features = data.sparse;
    const auto whole = rows_of(3, 0, 1);
    trained.scores.resize(rank == 0 ? whole->rows : 0);
    REQUIRE(model->predict(rank == 0 ? *whole : nothing, trained.scores));
    trained.state = state_of(*model);
    trained.metadata = metadata_of(*model);
    return trained;
  }

  std::vector<Trained> train_on(int ranks) {
    auto collectives = test::ThreadCollective::make(ranks);
    std::vector<Trained> trained(collectives.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < trained.size(); ++rank) {
      threads.emplace_back([&, rank] { trained[rank] = train(collectives[rank].get()); });
    }
    for (std::thread& thread : threads) thread.join();
    return trained;
  }

  /// Steps as that many ranks until each fails; returns what each said.
  std::vector<std::string> errors_of(int ranks) {
    auto collectives = test::ThreadCollective::make(ranks);
    std::vector<std::string> said(collectives.size());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        const auto at = static_cast<std::size_t>(rank);
        auto model = make_cpu_model(spec, shape(), collectives[at].get()).value();
        for (std::uint64_t number = 0; number < 5 && said[at].empty(); ++number) {
          const auto loss = model->step(*rows_of(number, rank, ranks));
          if (!loss) said[at] = loss.error().message;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return said;
  }
};

/// The tables of all ranks as those of one model; checks that replicas are equal.
State tables_of(const std::vector<Trained>& ranks) {
  std::map<std::string, std::map<int, std::vector<float>>> pieces;
  for (const Trained& rank : ranks) {
    for (const auto& [name, values] : rank.state) {
      if (!name.starts_with("table.")) continue;
      const std::size_t from = name.find(".from.");
      const std::size_t end = name.find(' ');
      std::string whole = name.substr(0, std::min(from, end));
      if (end != std::string::npos) whole += name.substr(end);
      const int first = from == std::string::npos ? 0 : std::stoi(name.substr(from + 6));
      const auto [known, is_new] = pieces[whole].emplace(first, values);
      CHECK((is_new || known->second == values));
    }
  }
  State tables;
  for (const auto& [name, parts] : pieces) {
    for (const auto& [first, values] : parts) {
      tables[name].insert(tables[name].end(), values.begin(), values.end());
    }
  }
  return tables;
}

/// So that every rank has some rows on the disk, and two batches fit.
std::uint64_t memory_for_some(const TrainerSpec& spec, const ModelShape& shape, int ranks,
                              std::uint64_t slots) {
  const TablePlacement placement = place_tables(spec, shape, ranks);
  std::uint64_t bytes = std::uint64_t{1} << 20;
  for (int rank = 0; rank < ranks; ++rank) {
    const ModelShape own = shards_of(shape, placement, rank);
    const TableLayout layout = layout_of(spec, own);
    const std::uint64_t wanted = std::min(slots, own.table_parameters() / layout.width);
    using Snapshot = TrainerSpec::Tables::Snapshot;
    while (tiered_slots(layout, bytes, Snapshot::kWhole) < wanted) bytes += 4096;
  }
  return bytes;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
  }
  return largest;
}

}  // namespace

TEST_CASE_METHOD(RankedFixture, "losses and tables are the same for any number of ranks",
                 "[trainer][ranks]") {
  const int ranks = GENERATE(2, 4);
  using Placement = TrainerSpec::Placement;
  spec.tables.placement = GENERATE(Placement::kTable, Placement::kRow, Placement::kReplicated);
  SECTION("as usual") {}
  SECTION("plain gradient descent") { spec.optimizer = TrainerSpec::Optimizer::kSgd; }
  SECTION("gradients that are cut") { spec.clip_norm = 0.05; }
  SECTION("another network") { spec.model = TrainerSpec::ModelKind::kDeepFm; }
  SECTION("fewer tables than ranks") { data.sparse = 1; }
  SECTION("a last batch of one row") { tail = 1; }
  SECTION("weights") { data.weights = true; }
  SECTION("means of bags") { spec.pooling = TrainerSpec::Pooling::kMean; }
  SECTION("a value of state a row") {
    spec.table_optimizer = TrainerSpec::TableOptimizer::kRowwiseAdagrad;
  }
  // Adagrad's first steps would amplify how the sums of lists that several ranks have are rounded.
  SECTION("lists that rows share") {
    shares = true;
    spec.optimizer = TrainerSpec::Optimizer::kSgd;
  }
  SECTION("means of lists that rows share") {
    shares = true;
    spec.optimizer = TrainerSpec::Optimizer::kSgd;
    spec.pooling = TrainerSpec::Pooling::kMean;
    ahead = 3;
  }
  const Trained alone = train(nullptr);
  const auto together = train_on(ranks);

  for (const Trained& rank : together) {
    for (std::size_t step = 0; step < steps; ++step) {
      CHECK(std::abs(rank.losses[step] - alone.losses[step]) < 1e-5);
    }
    CHECK(rank.losses == together[0].losses);
    for (const auto& [name, values] : rank.state) {
      CAPTURE(name);
      if (name.starts_with("table.")) continue;
      CHECK(largest_difference(values, alone.state.at(name)) < 2e-4);
      CHECK(values == together[0].state.at(name));  // Equal to the last bit.
    }
  }
  const State tables = tables_of(together);
  for (const auto& [name, values] : alone.state) {
    if (!name.starts_with("table.")) continue;
    CAPTURE(name);
    REQUIRE(tables.contains(name));
    CHECK(largest_difference(tables.at(name), values) < 2e-4);
  }
  CHECK(largest_difference(together[0].scores, alone.scores) < 1e-3);
}

TEST_CASE_METHOD(RankedFixture, "the threads of each rank change no bit of the result",
                 "[trainer][ranks][threads]") {
  using Placement = TrainerSpec::Placement;
  shares = GENERATE(false, true);
  spec.tables.placement = GENERATE(Placement::kTable, Placement::kRow, Placement::kReplicated);
  spec.clip_norm = GENERATE(0, 0.05);
  spec.optimizer = TrainerSpec::Optimizer::kAdam;
  ahead = 2;
  const auto one = train_on(2);
  for (const int threads : {2, 3, 8}) {
    CAPTURE(threads);
    spec.threads = FOREBAY_THREAD_SANITIZER ? 1 : threads;  // OpenMP is not instrumented.
    const auto several = train_on(2);
    for (std::size_t rank = 0; rank < several.size(); ++rank) {
      CHECK(several[rank].losses == one[rank].losses);
      CHECK(several[rank].scores == one[rank].scores);
      CHECK(several[rank].state == one[rank].state);
    }
  }
}

TEST_CASE_METHOD(RankedFixture, "ids announced before the step change no bit of the result",
                 "[trainer][ranks]") {
  const int ranks = GENERATE(2, 3);
  shares = GENERATE(false, true);
  using Placement = TrainerSpec::Placement;
  spec.tables.placement = GENERATE(Placement::kTable, Placement::kRow, Placement::kReplicated);
  const auto asked = train_on(ranks);
  ahead = 4;
  const auto announced = train_on(ranks);
  for (std::size_t rank = 0; rank < announced.size(); ++rank) {
    CHECK(announced[rank].losses == asked[rank].losses);
    CHECK(announced[rank].scores == asked[rank].scores);
    CHECK(announced[rank].state == asked[rank].state);
  }
}

TEST_CASE_METHOD(RankedFixture, "tables of several ranks in tiers and in memory hold the same bits",
                 "[trainer][ranks]") {
  const int ranks = GENERATE(2, 3);
  using Placement = TrainerSpec::Placement;
  shares = GENERATE(false, true);
  spec.tables.placement = GENERATE(Placement::kTable, Placement::kRow, Placement::kReplicated);
  ahead = GENERATE(std::uint64_t{0}, std::uint64_t{3});
  spec.max_table_rows = 3000;
  data.ids = 100000;
  spec.table_optimizer =
      GENERATE(TrainerSpec::TableOptimizer::kRowwiseAdagrad, TrainerSpec::TableOptimizer::kSgd);
  steps = 20;
  const auto memory = train_on(ranks);
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.folder = dir.path("tables");
  spec.tables.memory_bytes = memory_for_some(spec, shape(), ranks, 2000);
  const auto tiers = train_on(ranks);
  for (std::size_t rank = 0; rank < tiers.size(); ++rank) {
    CHECK(tiers[rank].losses == memory[rank].losses);
    CHECK(tiers[rank].scores == memory[rank].scores);
    CHECK(tiers[rank].state == memory[rank].state);
  }
}

TEST_CASE_METHOD(RankedFixture,
                 "the metadata of hashed tables is that of one trainer for any placement",
                 "[trainer][ranks]") {
  data.sparse = 2;  // One rank of three has no table, and counts the steps all the same.
  shares = GENERATE(false, true);
  spec.tables.storage = TrainerSpec::Storage::kHashed;
  spec.tables.admit_after = 2;
  spec.tables.evict_after = 4;
  ahead = GENERATE(std::uint64_t{0}, std::uint64_t{3});
  const auto alone = train(nullptr).metadata;
  REQUIRE(alone.contains("tables.steps"));
  std::map<std::string, std::vector<std::byte>> together;
  for (const Trained& rank : train_on(3)) {
    CHECK(rank.metadata.at("tables.steps") == alone.at("tables.steps"));
    together.insert(rank.metadata.begin(), rank.metadata.end());
  }
  CHECK(together == alone);
}

TEST_CASE_METHOD(RankedFixture, "every rank knows the lookups of all, and how many were ready",
                 "[trainer][ranks]") {
  spec.tables.placement = GENERATE(TrainerSpec::Placement::kTable, TrainerSpec::Placement::kRow,
                                   TrainerSpec::Placement::kReplicated);
  std::uint64_t ids = 0;
  for (std::uint64_t number = 0; number < steps; ++number) ids += rows_of(number, 0, 1)->num_ids;
  for (const Trained& rank : train_on(3)) {
    CHECK(rank.lookups.all == ids);
    CHECK(rank.lookups.ready == ids);  // In memory all rows are ready.
  }
  if (spec.tables.placement == TrainerSpec::Placement::kReplicated) return;
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.folder = dir.path("tables");
  spec.tables.memory_bytes = std::uint64_t{64} << 20;
  const auto tiers = train_on(3);
  CHECK(tiers[0].lookups.all == ids);
  CHECK(tiers[0].lookups.ready < ids);  // Each row was fetched once, not announced.
  CHECK(tiers[0].lookups.ready > 0);
  CHECK(tiers[1].lookups.ready == tiers[0].lookups.ready);
}

TEST_CASE_METHOD(RankedFixture, "announced rows are in memory when the step begins",
                 "[trainer][ranks]") {
  spec.tables.placement = GENERATE(TrainerSpec::Placement::kTable, TrainerSpec::Placement::kRow);
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.folder = dir.path("tables");
  spec.tables.memory_bytes = std::uint64_t{64} << 20;
  auto collectives = test::ThreadCollective::make(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      auto model =
          make_cpu_model(spec, shape(), collectives[static_cast<std::size_t>(rank)].get()).value();
      for (std::uint64_t number = 0; number < 8; number += 2) {
        // Announces one batch that is never stepped on; after the next step it is released.
        const auto skipped = ids_of(number, rank, 2);
        const auto ids = ids_of(number + 1, rank, 2);
        model->prefetch(skipped);
        model->prefetch(ids);
        test::wait_until([&] { return ids.use_count() == 2; });
        REQUIRE(model->step(*rows_of(number + 1, rank, 2)));
        CHECK(skipped.use_count() == 1);
      }
      CHECK(model->lookups().all > 0);
      CHECK(model->lookups().ready == model->lookups().all);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE_METHOD(RankedFixture, "ids announced for other rows than a step has are refused",
                 "[trainer][ranks]") {
  data.sparse = 1;
  spec.tables.placement = TrainerSpec::Placement::kTable;  // Rank 1 has no table.
  auto collectives = test::ThreadCollective::make(2);
  auto model = make_cpu_model(spec, shape(), collectives[1].get()).value();
  const auto ids = ids_of(11, 1, 2);  // Of a last batch, which is short.
  steps = 13;
  model->prefetch(ids);
  const auto loss = model->step(*rows_of(11, 1, 2));
  REQUIRE_FALSE(loss);
  CHECK(loss.error().message ==
        "the ids of batch 11 that came before the step are those of other rows");
}

TEST_CASE_METHOD(RankedFixture, "a step without another rank ends with its name",
                 "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  auto model = make_cpu_model(spec, shape(), collectives[0].get()).value();
  collectives[1].reset();
  const auto loss = model->step(*rows_of(0, 0, 2));
  REQUIRE_FALSE(loss);
  CHECK(loss.error().message == "rank 1 was lost");
}

TEST_CASE_METHOD(RankedFixture, "a loss that is not a number is named by all ranks, with its row",
                 "[trainer][ranks]") {
  bad_batch = 2;
  bad_row = 100;  // Of 192: on rank 1 of 2, on rank 2 of 4.
  const std::vector<std::string> said = errors_of(GENERATE(2, 4));
  CHECK(
      said[0].starts_with("the loss of batch 2 is not a number, first that of its row 100: "
                          "d is not a number"));
  CHECK(said == std::vector(said.size(), said[0]));
}

TEST_CASE_METHOD(RankedFixture, "an update that overflows fails on all ranks, on its batch",
                 "[trainer][ranks]") {
  spec.optimizer = TrainerSpec::Optimizer::kAdagrad;
  bad_batch = 2;
  bad_row = 100;
  bad_value = -1e30F;
  const std::vector<std::string> said = errors_of(GENERATE(2, 4));
  for (const std::string& each : said) {
    CHECK(each.starts_with("training on batch 2 made weights or the optimizer's state infinite; "));
  }
  CHECK(std::ranges::any_of(said, [](const std::string& each) {
    return each.find("its largest dense value is d = -1e+30 in row 100; lower") != each.npos;
  }));
}
