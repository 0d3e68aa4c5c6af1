#include "trainer/torch/embedding_tables.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// One feature, dim 2, three rows whose weights are 10·row + column; a batch of bags.
struct TableFixture {
  explicit TableFixture(TrainerSpec::Optimizer optimizer = TrainerSpec::Optimizer::kSgd)
      : tables(shape(), {optimizer, 0.5f}, 1) {
    tables.append_state(state);
    for (std::size_t i = 0; i < 6; ++i)
      state[0].values[i] = static_cast<float>(10 * (i / 2) + i % 2);
  }

  static ModelShape shape() { return {.table_rows = {3}, .embedding_dim = 2}; }

  /// Lays the batch out in shares of two rows.
  void lay_out(std::vector<std::int32_t> bag_lengths, std::vector<std::int64_t> bag_ids) {
    lengths = std::move(bag_lengths);
    ids = std::move(bag_ids);
    batch.rows = lengths.size();
    batch.sparse_features = 1;
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
    tables.begin_layout(batch, 2, layout);
    tables.lay_out(batch, 0, 2, layout);
  }

  std::vector<float> weights() const { return {state[0].values.begin(), state[0].values.end()}; }

  EmbeddingTables tables;
  std::vector<StateTensor> state;
  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
  IdLayout layout;
};

}  // namespace

TEST_CASE("ids are folded into a table by their positive modulus", "[trainer][embedding]") {
  TableFixture fixture;
  fixture.lay_out({1, 1, 1, 1, 2}, {0, 3, -1, -4, 5, INT64_MIN});
  // -2⁶³ = 3·(-3074457345618258603) + 1.
  CHECK(fixture.layout.table_rows == std::vector<std::int32_t>{0, 0, 2, 2, 2, 1});
  CHECK(fixture.layout.share_starts == std::vector<std::size_t>{0, 2, 4});
}

TEST_CASE("a table of a power of two folds the same way", "[trainer][embedding]") {
  EmbeddingTables tables({.table_rows = {8}, .embedding_dim = 1}, {}, 1);
  std::vector<std::int32_t> lengths = {4};
  std::vector<std::int64_t> ids = {7, 8, -1, INT64_MIN};
  Batch batch;
  batch.rows = batch.sparse_features = 1;
  batch.num_ids = 4;
  batch.lengths = lengths.data();
  batch.ids = ids.data();
  IdLayout layout;
  tables.begin_layout(batch, 1, layout);
  tables.lay_out(batch, 0, 1, layout);
  CHECK(layout.table_rows == std::vector<std::int32_t>{7, 0, 7, 0});
}

TEST_CASE("a bag is the sum of its rows, an empty one zero", "[trainer][embedding]") {
  TableFixture fixture;
  fixture.lay_out({2, 0, 1}, {1, 2, 0});
  std::vector<float> out(9, -1);
  const auto used = fixture.tables.pool(0, {fixture.batch.lengths, 3},
                                        fixture.layout.table_rows.data(), out.data(), 3);
  CHECK(used == 3);
  CHECK(out == std::vector<float>{30, 32, -1, 0, 0, -1, 0, 1, -1});
}

TEST_CASE("plain descent moves each row by the sum of its gradients", "[trainer][embedding]") {
  // Row 1 is in bags 0 and 2: gradients (1,2) + (5,6), halved by the rate.
  TableFixture fixture;
  fixture.lay_out({1, 1, 1}, {1, 2, 1});
  auto scratch = fixture.tables.make_scratch();
  const std::vector<float> gradients = {1, 2, 3, 4, 5, 6};
  fixture.tables.update(0, fixture.batch, fixture.layout, gradients.data(), scratch);
  CHECK(fixture.weights() == std::vector<float>{0, 1, 7, 7, 18.5, 19});
  fixture.tables.update(0, fixture.batch, fixture.layout, gradients.data(), scratch);
  CHECK(fixture.weights() == std::vector<float>{0, 1, 4, 3, 17, 17});
}

TEST_CASE("adagrad squares the sum of a row's gradients, not each of them",
          "[trainer][embedding]") {
  // Row 0 twice, gradients 1 and 3: the sum 4, its square 16; a step of 0.5·4/4.
  TableFixture fixture(TrainerSpec::Optimizer::kAdagrad);
  fixture.lay_out({1, 1}, {0, 3});
  auto scratch = fixture.tables.make_scratch();
  const std::vector<float> gradients = {1, 0, 3, 0};
  fixture.tables.update(0, fixture.batch, fixture.layout, gradients.data(), scratch);
  REQUIRE(fixture.state.size() == 2);
  CHECK(fixture.state[1].values[0] == 16);
  CHECK(fixture.weights() == std::vector<float>{-0.5, 1, 10, 11, 20, 21});
}

TEST_CASE("tables start within the published bounds, alike for a seed", "[trainer][embedding]") {
  const ModelShape shape{.table_rows = {100}, .embedding_dim = 16};
  std::vector<StateTensor> one, same, other;
  const EmbeddingTables a(shape, {}, 1), b(shape, {}, 1), c(shape, {}, 2);
  a.append_state(one);
  b.append_state(same);
  c.append_state(other);
  const auto [low, high] = std::minmax_element(one[0].values.begin(), one[0].values.end());
  CHECK(*low >= -0.1f);
  CHECK(*low < -0.099f);
  CHECK(*high <= 0.1f);
  CHECK(*high > 0.099f);
  CHECK(std::ranges::equal(one[0].values, same[0].values));
  CHECK_FALSE(std::ranges::equal(one[0].values, other[0].values));
}
