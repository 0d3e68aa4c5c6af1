#include <cmath>
#include <map>
#include <thread>

#include "tests/support/thread_collective.h"
#include "tests/trainer/click_batches.h"
#include "tools/ranks/batch_slice.h"
#include "trainer/torch/models.h"

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

/// What training gave on one rank.
struct Trained {
  std::vector<double> losses;
  std::vector<float> scores;
  State state;
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

  RankedFixture() {
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

  std::shared_ptr<const Batch> rows_of(std::uint64_t number, int rank, int ranks) {
    ClickBatches::Options these = data;
    if (number + 1 == steps) these.rows = tail;
    const auto batch = ClickBatches(pool, these).make(number);
    if (number == bad_batch) batch->dense[bad_row * data.dense] = std::nanf("");
    const auto [first, end] = rows_of_rank(batch->rows, rank, ranks);
    return slice_rows(*batch, first, end, pool);
  }

  Trained train(Collective* collective) {
    const int rank = collective == nullptr ? 0 : collective->rank();
    const int ranks = collective == nullptr ? 1 : collective->size();
    auto model = make_cpu_model(spec, shape(), collective).value();
    Trained trained;
    for (std::uint64_t number = 0; number < steps; ++number) {
      trained.losses.push_back(model->step(*rows_of(number, rank, ranks)).value());
    }
    // Rank 0 scores all rows of a batch, the others none.
    Batch nothing;
    nothing.dense_features = data.dense;
    nothing.sparse_features = data.sparse;
    const auto whole = rows_of(3, 0, 1);
    trained.scores.resize(rank == 0 ? whole->rows : 0);
    REQUIRE(model->predict(rank == 0 ? *whole : nothing, trained.scores));
    trained.state = state_of(*model);
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
};

/// The tables of all ranks as those of one model; those that several have are checked to be alike.
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

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
  }
  return largest;
}

}  // namespace

TEST_CASE_METHOD(RankedFixture, "however many ranks train, the losses and the tables are the same",
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
  SECTION("means of bags") { spec.pooling = TrainerSpec::Pooling::kMean; }
  SECTION("a value of state a row") {
    spec.table_optimizer = TrainerSpec::TableOptimizer::kRowwiseAdagrad;
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
      CHECK(values == together[0].state.at(name));  // To the last bit.
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

TEST_CASE_METHOD(RankedFixture, "a step without another rank ends with its name",
                 "[trainer][ranks]") {
  auto collectives = test::ThreadCollective::make(2);
  auto model = make_cpu_model(spec, shape(), collectives[0].get()).value();
  collectives[1].reset();
  const auto loss = model->step(*rows_of(0, 0, 2));
  REQUIRE_FALSE(loss);
  CHECK(loss.error().message == "rank 1 was lost");
}

TEST_CASE_METHOD(RankedFixture, "a loss that is no number is named by all ranks, with its row",
                 "[trainer][ranks]") {
  bad_batch = 2;
  bad_row = 100;  // Of 192: on rank 1 of 2, on rank 2 of 4.
  const int ranks = GENERATE(2, 4);
  auto collectives = test::ThreadCollective::make(ranks);
  std::vector<std::string> said(collectives.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      auto model = make_cpu_model(spec, shape(), collectives[at].get()).value();
      for (std::uint64_t number = 0; said[at].empty(); ++number) {
        const auto loss = model->step(*rows_of(number, rank, ranks));
        if (!loss) said[at] = loss.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(
      said[0].starts_with("the loss of batch 2 is not a number, first that of its row 100: its "
                          "dense value 0 is not a number"));
  CHECK(said == std::vector(collectives.size(), said[0]));
}
