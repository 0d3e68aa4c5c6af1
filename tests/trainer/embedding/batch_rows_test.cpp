#include "trainer/embedding/batch_rows.h"

#include "core/base/random.h"
#include "core/base/thread/thread_team.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// A batch of `rows` rows over the lists of its features, key-major.
struct Lists {
  Lists(std::size_t rows, std::vector<std::int32_t> list_lengths,
        std::vector<std::int64_t> list_ids)
      : lengths(std::move(list_lengths)), ids(std::move(list_ids)) {
    batch.number = 7;
    batch.rows = rows;
    batch.sparse_features = lengths.size() / rows;
    batch.num_ids = ids.size();
    batch.lengths = lengths.data();
    batch.ids = ids.data();
  }

  std::vector<std::int32_t> lengths;
  std::vector<std::int64_t> ids;
  Batch batch;
};

}  // namespace

TEST_CASE("ids are folded into a table by their positive modulus", "[trainer][embedding]") {
  const Lists lists(5, {1, 1, 1, 1, 2}, {0, 3, -1, -4, 5, INT64_MIN});
  BatchRows rows;
  REQUIRE(RowFinder({3}).find(lists.batch, 2, rows));
  // -2⁶³ = 3·(-3074457345618258603) + 1.
  CHECK(rows.keys == std::vector<std::int64_t>{0, 2, 1});
  CHECK(rows.times == std::vector<std::int32_t>{2, 3, 1});
  CHECK(rows.place == std::vector<std::int32_t>{0, 0, 1, 1, 1, 2});
  CHECK(rows.share_starts == std::vector<std::size_t>{0, 2, 4});
}

TEST_CASE("a table of a power of two folds the same way", "[trainer][embedding]") {
  const Lists lists(1, {4}, {7, 8, -1, INT64_MIN});
  BatchRows rows;
  REQUIRE(RowFinder({8}).find(lists.batch, 1, rows));
  CHECK(rows.keys == std::vector<std::int64_t>{7, 0});
  CHECK(rows.place == std::vector<std::int32_t>{0, 1, 0, 1});
}

TEST_CASE("without a table's size an id is its own key", "[trainer][embedding]") {
  const Lists lists(1, {3}, {INT64_MIN, 5, INT64_MAX});
  BatchRows rows;
  REQUIRE(RowFinder({0}).find(lists.batch, 1, rows));
  CHECK(rows.keys == std::vector<std::int64_t>{INT64_MIN, 5, INT64_MAX});
}

TEST_CASE("rows are distinct within a feature, not across", "[trainer][embedding]") {
  const Lists lists(2, {1, 1, 1, 1}, {4, 4, 4, 2});
  BatchRows rows;
  RowFinder finder({10, 10});
  // Twice: the second batch does not see the state of the first.
  for (int time = 0; time < 2; ++time) {
    REQUIRE(finder.find(lists.batch, 1, rows));
    CHECK(rows.keys == std::vector<std::int64_t>{4, 4, 2});
    CHECK(rows.first_row == std::vector<std::size_t>{0, 1, 3});
    CHECK(rows.place == std::vector<std::int32_t>{0, 0, 0, 1});
    CHECK(rows.first_id == std::vector<std::size_t>{0, 2, 4});
  }
}

TEST_CASE("a batch whose lists do not add up is refused by its number", "[trainer][embedding]") {
  BatchRows rows;
  const Lists short_of_ids(2, {1, 2}, {1, 2});
  auto refused = RowFinder({3}).find(short_of_ids.batch, 1, rows);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "batch 7 has lists of 3 ids in all and 2 ids");
  const Lists negative(2, {3, -1}, {1, 2});
  refused = RowFinder({3}).find(negative.batch, 1, rows);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("negative"));
  const Lists other_features(1, {1, 1}, {1, 2});
  CHECK_FALSE(RowFinder({3}).find(other_features.batch, 1, rows));
}

TEST_CASE("lists that rows share are looked through once, and counted for each row",
          "[trainer][embedding]") {
  // Feature 0 of four rows: [1 2] [9] [1 2] [9]; feature 1: one id each.
  Lists lists(4, {2, 1, 2, 1, 1, 1, 1, 1}, {1, 2, 9, 1, 2, 9, 5, 6, 5, 5});
  const std::vector<std::uint32_t> numbers{0, 1, 0, 1};
  const std::vector<std::uint32_t> first_rows{0, 1};
  lists.batch.repeats.push_back({.features = {.sparse = {0}},
                                 .unique = 2,
                                 .numbers = numbers.data(),
                                 .first_rows = first_rows.data()});
  BatchRows rows;
  REQUIRE(RowFinder({0, 0}).find(lists.batch, 2, rows));
  CHECK(rows.first_id == std::vector<std::size_t>{0, 3, 7});
  CHECK(rows.keys == std::vector<std::int64_t>{1, 2, 9, 5, 6});
  CHECK(rows.times == std::vector<std::int32_t>{2, 2, 2, 3, 1});
  CHECK(rows.place == std::vector<std::int32_t>{0, 1, 2, 0, 1, 0, 0});
  CHECK(rows.share_starts[2] == 3);  // of feature 1
  CHECK(rows.share_starts[3] == 5);
  CHECK(rows.lookups == 10);
  CHECK(rows.repeats_of(lists.batch, 0) == &lists.batch.repeats[0]);
  CHECK(rows.repeats_of(lists.batch, 1) == nullptr);
}

TEST_CASE("a batch may have lists that rows share once", "[trainer][embedding]") {
  // Feature 0 of four rows: one id each; feature 1: [1 2] [9] [1 2] [9], of which two are stored;
  // feature 2: one id each.
  Lists lists(4, {1, 1, 1, 1, 2, 1, 2, 1, 1, 1, 1, 1}, {5, 6, 5, 5, 1, 2, 9, 8, 8, 7, 8});
  const std::vector<std::uint32_t> numbers{0, 1, 0, 1};
  const std::vector<std::uint32_t> first_rows{0, 1};
  lists.batch.repeats.push_back({.features = {.sparse = {1}},
                                 .unique = 2,
                                 .numbers = numbers.data(),
                                 .first_rows = first_rows.data()});
  lists.batch.lists_once = true;
  BatchRows rows;
  REQUIRE(RowFinder({0, 0, 0}).find(lists.batch, 4, rows));
  CHECK(rows.keys == std::vector<std::int64_t>{5, 6, 1, 2, 9, 8, 7});
  CHECK(rows.times == std::vector<std::int32_t>{3, 1, 2, 2, 2, 3, 1});
  CHECK(rows.lookups == 14);  // of all rows
  lists.batch.num_ids = 14;
  CHECK_FALSE(RowFinder({0, 0, 0}).find(lists.batch, 4, rows));
}

TEST_CASE("a team finds the rows that one thread finds", "[trainer][embedding]") {
  const std::size_t members = GENERATE(1, 3, 8);
  constexpr std::size_t kFeatures = 5;
  ThreadTeam team(members);
  RowFinder together(std::vector<std::int64_t>(kFeatures, 17), &team);
  RowFinder alone(std::vector<std::int64_t>(kFeatures, 17));
  Random random(members);
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<std::int32_t> lengths;
    std::size_t ids = 0;
    for (std::size_t list = 0; list < kFeatures * 9; ++list) {
      lengths.push_back(static_cast<std::int32_t>(random.below(4)));
      ids += static_cast<std::size_t>(lengths.back());
    }
    std::vector<std::int64_t> drawn(ids);
    for (std::int64_t& id : drawn) id = static_cast<std::int64_t>(random.below(1000));
    const Lists lists(9, lengths, drawn);
    BatchRows ours, theirs;
    REQUIRE(together.find(lists.batch, 4, ours));
    REQUIRE(alone.find(lists.batch, 4, theirs));
    CHECK(ours.keys == theirs.keys);
    CHECK(ours.times == theirs.times);
    CHECK(ours.place == theirs.place);
    CHECK(ours.first_row == theirs.first_row);
    CHECK(ours.first_id == theirs.first_id);
    CHECK(ours.share_starts == theirs.share_starts);
  }
}
