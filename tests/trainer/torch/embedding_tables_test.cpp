#include "trainer/torch/kernels/embedding_tables.h"

#include "trainer/embedding/table_storage.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Optimizer = TrainerSpec::TableOptimizer;
using Pooling = TrainerSpec::Pooling;

/// One feature, rows of two weights with value 10·row + column; a batch of bags.
struct TableFixture {
  explicit TableFixture(Optimizer optimizer = Optimizer::kSgd, Pooling pooling = Pooling::kSum) {
    auto room = std::make_unique<CopyRoom>(1024, 1024);
    const std::size_t state = state_width(optimizer, 2);
    const TableLayout layout{.rows = {3}, .width = 2, .dim = 2, .state_width = state, .seed = 1};
    auto storage = make_memory_tables(layout, *room);
    arena = &storage->arena(0);
    for (std::size_t i = 0; i < 6; ++i) {
      arena->weights()[i] = static_cast<float>(10 * (i / 2) + i % 2);
    }
    tables = std::make_unique<EmbeddingTables>(std::move(room), std::move(storage),
                                               EmbeddingTables::Rule{optimizer, pooling});
  }

  const BatchRows& begin(std::vector<std::int32_t> bag_lengths, std::vector<std::int64_t> bag_ids) {
    lengths = std::move(bag_lengths);
    ids = std::move(bag_ids);
    batch.rows = lengths.size();
    batch.sparse_features = 1;
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
    auto begun = tables->begin(batch);
    REQUIRE(begun);
    return **begun;
  }

  void step(const std::vector<float>& gradients, float rate = 0.5f) {
    const BatchRows& rows = begin(lengths, ids);
    tables->add_up(0, batch, rows, gradients.data());
    tables->apply(0, rows, rate);
    tables->end();
  }

  std::vector<float> pooled() {
    const BatchRows& rows = begin(lengths, ids);
    std::vector<float> out(3 * lengths.size(), -1);
    CHECK(tables->pool(0, rows, 0, lengths, out.data(), 3) == ids.size());
    tables->end();
    return out;
  }

  std::vector<float> weights() const { return {arena->weights(), arena->weights() + 6}; }

  std::unique_ptr<EmbeddingTables> tables;
  RowArena* arena = nullptr;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
};

}  // namespace

TEST_CASE("a bag is the sum of its rows, an empty one zero", "[trainer][embedding]") {
  TableFixture fixture;
  fixture.lengths = {2, 0, 1};
  fixture.ids = {1, 2, 0};
  CHECK(fixture.pooled() == std::vector<float>{30, 32, -1, 0, 0, -1, 0, 1, -1});
}

TEST_CASE("a bag may be the mean of its rows", "[trainer][embedding]") {
  TableFixture fixture(Optimizer::kSgd, Pooling::kMean);
  fixture.lengths = {2, 0, 1};
  fixture.ids = {1, 2, 0};
  CHECK(fixture.pooled() == std::vector<float>{15, 16, -1, 0, 0, -1, 0, 1, -1});
}

TEST_CASE("plain descent moves each row by the sum of its gradients", "[trainer][embedding]") {
  // Row 1 is in bags 0 and 2: gradients (1,2) + (5,6), halved by the rate.
  TableFixture fixture;
  fixture.lengths = {1, 1, 1};
  fixture.ids = {1, 2, 1};
  fixture.step({1, 2, 3, 4, 5, 6});
  CHECK(fixture.weights() == std::vector<float>{0, 1, 7, 7, 18.5, 19});
  fixture.step({1, 2, 3, 4, 5, 6});
  CHECK(fixture.weights() == std::vector<float>{0, 1, 4, 3, 17, 17});
}

TEST_CASE("the rows of a mean take their share of its gradient", "[trainer][embedding]") {
  TableFixture fixture(Optimizer::kSgd, Pooling::kMean);
  fixture.lengths = {2, 1};
  fixture.ids = {0, 1, 1};
  fixture.step({4, 8, 1, 1}, 1);
  // Row 0: half of (4, 8). Row 1: the other half and (1, 1).
  CHECK(fixture.weights() == std::vector<float>{-2, -3, 7, 6, 20, 21});
}

TEST_CASE("adagrad squares the sum of a row's gradients, not each of them",
          "[trainer][embedding]") {
  // Row 0 twice, gradients 1 and 3: the sum 4, its square 16; a step of 0.5·4/4.
  TableFixture fixture(Optimizer::kAdagrad);
  fixture.lengths = {1, 1};
  fixture.ids = {0, 3};
  fixture.step({1, 0, 3, 0});
  CHECK(fixture.arena->state()[0] == 16);
  CHECK(fixture.weights() == std::vector<float>{-0.5, 1, 10, 11, 20, 21});
}

TEST_CASE("row-wise adagrad keeps the mean square of a row's gradient", "[trainer][embedding]") {
  // (4, 4) has the mean square 16, then 32 with it: steps of 0.5·4/4 and 0.5·4/√32.
  TableFixture fixture(Optimizer::kRowwiseAdagrad);
  fixture.lengths = {1, 1};
  fixture.ids = {1, 1};
  fixture.step({1, 3, 3, 1});
  CHECK(fixture.arena->state()[1] == 16);
  CHECK(fixture.weights() == std::vector<float>{0, 1, 9.5, 10.5, 20, 21});
  fixture.step({1, 3, 3, 1});
  CHECK(fixture.arena->state()[1] == 32);
  CHECK(fixture.weights()[2] == Approx(9.5 - 0.5 * 4 / std::sqrt(32.0)));
}

TEST_CASE("sums may be scaled before they are applied", "[trainer][embedding]") {
  TableFixture fixture;
  const BatchRows& rows = fixture.begin({1, 1}, {2, 2});
  const std::vector<float> gradients = {1, 2, 3, 4};
  fixture.tables->add_up(0, fixture.batch, rows, gradients.data());
  for (float& sum : fixture.tables->sums(0)) sum /= 4;
  fixture.tables->apply(0, rows, 1);
  fixture.tables->end();
  CHECK(fixture.weights() == std::vector<float>{0, 1, 10, 11, 19, 19.5});
}
