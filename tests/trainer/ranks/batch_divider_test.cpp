#include "trainer/ranks/batch_divider.h"

#include "tests/support/list_batch.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Lengths = std::vector<std::int32_t>;
using Ids = std::vector<std::int64_t>;

struct DividedFixture {
  // Three features, two rows.
  Lengths lengths{1, 2, 0, 1, 3, 1};
  Ids ids{4, 5, 6, 10, 7, -1, 8, 25};
  Batch batch = test::batch_of(2, lengths, ids);

  static Lengths lengths_of(const Batch& batch) {
    return {batch.lengths, batch.lengths + batch.sparse_features * batch.rows};
  }
  static Ids ids_of(const Batch& batch) { return {batch.ids, batch.ids + batch.num_ids}; }
};

}  // namespace

TEST_CASE_METHOD(DividedFixture, "ids of a cut table go where their rows are", "[trainer][ranks]") {
  // Feature 0 is whole, 1 is at every rank, 2 has 10 rows of which the first 7 are one shard.
  const TablePlacement placement{.shards = {{0, 0, 20, 0}, {2, 0, 7, 0}, {2, 7, 3, 1}},
                                 .replicated = {1}};
  BatchDivider divider({20, 20, 10}, placement);
  for (int i = 0; i < 2; ++i) {  // No state of the batch before is left.
    REQUIRE(divider.divide(batch));
    const Batch& sharded = divider.sharded();
    CHECK(sharded.sparse_features == 3);
    // Keys 7, 9 (-1 folded), 8 and 5 (25 folded): 5 is in the first shard, the others are 0, 2, 1
    // of the second.
    CHECK(lengths_of(sharded) == Lengths{1, 2, 0, 1, 3, 0});
    CHECK(ids_of(sharded) == Ids{4, 5, 6, 5, 0, 2, 1});
    CHECK(lengths_of(divider.replicated()) == Lengths{0, 1});
    CHECK(ids_of(divider.replicated()) == Ids{10});
  }
}

TEST_CASE_METHOD(DividedFixture, "a batch whose tables are whole is not copied",
                 "[trainer][ranks]") {
  BatchDivider divider({20, 20, 10},
                       {.shards = {{0, 0, 20, 0}, {1, 0, 20, 1}, {2, 0, 10, 0}}, .replicated = {}});
  REQUIRE(divider.divide(batch));
  CHECK(&divider.sharded() == &batch);
}

TEST_CASE_METHOD(DividedFixture, "a rank's shards get the ids that a whole batch has for them",
                 "[trainer][ranks]") {
  const TablePlacement all{
      .shards = {{0, 0, 10, 0}, {0, 10, 10, 1}, {1, 0, 20, 1}, {2, 0, 5, 0}, {2, 5, 5, 1}},
      .replicated = {}};
  BatchDivider first({20, 20, 10}, shards_of_rank(all, 0));
  BatchDivider second({20, 20, 10}, shards_of_rank(all, 1));
  REQUIRE(first.divide(batch));
  REQUIRE(second.divide(batch));
  CHECK(lengths_of(first.sharded()) == Lengths{1, 2, 0, 0});
  CHECK(ids_of(first.sharded()) == Ids{4, 5, 6});
  CHECK(lengths_of(second.sharded()) == Lengths{0, 0, 0, 1, 3, 1});
  CHECK(ids_of(second.sharded()) == Ids{10, 2, 4, 3, 0});
  CHECK(first.sharded().number == batch.number);
}

TEST_CASE_METHOD(DividedFixture, "parts of all tables are not taken for whole tables",
                 "[trainer][ranks]") {
  BatchDivider divider({20, 20, 10},
                       {.shards = {{0, 0, 5, 0}, {1, 0, 20, 0}, {2, 0, 10, 0}}, .replicated = {}});
  REQUIRE(divider.divide(batch));
  CHECK(lengths_of(divider.sharded()) == Lengths{1, 0, 0, 1, 3, 1});
}

TEST_CASE_METHOD(DividedFixture, "of a batch with announced ids only the ids of replicas are taken",
                 "[trainer][ranks]") {
  BatchDivider divider({20, 20, 10}, {.shards = {{0, 0, 20, 0}, {2, 0, 10, 1}}, .replicated = {1}});
  REQUIRE(divider.divide(batch, BatchDivider::What::kReplicas));
  CHECK(divider.sharded().num_ids == 0);
  CHECK(ids_of(divider.replicated()) == Ids{10});
}

namespace {

/// Five rows of three features; rows 0, 2, 3 and rows 1, 4 share the lists {4, 12} and {7} of
/// feature 0, and {5}, {} of feature 2.
struct SharedFixture {
  using Numbers = std::vector<std::uint32_t>;
  Numbers numbers{0, 1, 0, 0, 1};
  Numbers first_rows{0, 1};
  Lengths lengths{2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0};
  Ids ids{4, 12, 7, 20, 21, 22, 23, 24, 5};
  Batch batch = test::batch_of(5, lengths, ids);

  SharedFixture() { test::share_lists(batch, {0, 2}, numbers, first_rows); }
};

}  // namespace

TEST_CASE_METHOD(SharedFixture, "lists that rows share stay shared in shards and replicas",
                 "[trainer][ranks]") {
  const TablePlacement placement{.shards = {{0, 0, 10, 0}, {0, 10, 10, 1}, {1, 0, 99, 1}},
                                 .replicated = {2}};
  BatchDivider divider({20, 99, 30}, placement);
  for (int i = 0; i < 2; ++i) {  // No state of the batch before is left.
    REQUIRE(divider.divide(batch));
    const Batch& sharded = divider.sharded();
    CHECK(DividedFixture::lengths_of(sharded) ==
          Lengths{1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1});
    CHECK(DividedFixture::ids_of(sharded) == Ids{4, 7, 2, 20, 21, 22, 23, 24});
    CHECK(sharded.lists_once);
    REQUIRE(sharded.repeats.size() == 1);
    CHECK(sharded.repeats[0].features.sparse == std::vector<std::size_t>{0, 1});
    CHECK(sharded.repeats[0].unique == 2);
    CHECK(are_sound(sharded.repeats, 5));
    CHECK(DividedFixture::ids_of(divider.replicated()) == Ids{5});
    CHECK(divider.replicated().repeats[0].features.sparse == std::vector<std::size_t>{0});
  }
  batch.repeats.clear();
  batch.lists_once = false;
  lengths = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
  REQUIRE(divider.divide(batch));
  CHECK_FALSE(divider.sharded().lists_once);
  CHECK(divider.sharded().repeats.empty());
}

TEST_CASE_METHOD(SharedFixture, "rows of different ranks share no list after a batch is divided",
                 "[trainer][ranks]") {
  const TablePlacement all{.shards = {{0, 0, 20, 0}, {1, 0, 99, 0}, {2, 0, 30, 0}},
                           .replicated = {}};
  // Rank 0 has rows 0 and 1, rank 1 the others.
  BatchDivider divider({20, 99, 30}, all, 2);
  REQUIRE(divider.divide(batch));
  const Batch& sharded = divider.sharded();
  CHECK(DividedFixture::lengths_of(sharded) == lengths);
  CHECK(DividedFixture::ids_of(sharded) == Ids{4, 12, 7, 4, 12, 7, 20, 21, 22, 23, 24, 5, 5});
  REQUIRE(sharded.repeats.size() == 1);
  CHECK(Numbers(sharded.repeats[0].numbers, sharded.repeats[0].numbers + 5) ==
        Numbers{0, 1, 2, 2, 3});
  CHECK(are_sound(sharded.repeats, 5));
}

TEST_CASE_METHOD(DividedFixture, "a batch that does not fit together is not divided",
                 "[trainer][ranks]") {
  BatchDivider divider({20, 20, 10}, {.shards = {}, .replicated = {0, 1, 2}});
  SECTION("ids") { batch.num_ids -= 1; }
  SECTION("lengths") { lengths = {-1, 4, 0, 1, 3, 1}; }
  SECTION("features") { batch.sparse_features = 2; }
  CHECK_FALSE(divider.divide(batch));
}
