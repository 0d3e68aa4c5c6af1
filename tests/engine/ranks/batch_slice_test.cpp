#include "engine/ranks/batch_slice.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/data/batch_lists.h"
#include "tests/trainer/click_batches.h"
#include "tests/trainer/shared_lists.h"
#include "trainer/ranks/placement.h"

#include "tests/support/catch.h"

using namespace forebay;
using test::ClickBatches;

namespace {

struct SliceFixture {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
  ClickBatches::Options data{.rows = 11, .dense = 3, .sparse = 2, .most_per_field = 3};
  SliceLimits limits{.rows = 11, .dense_features = 3, .sparse_features = 2};

  std::shared_ptr<const Batch> whole() { return ClickBatches(pool, data).make(5); }
  std::string refusal(const BatchSlice& slice) {
    auto unpacked = unpack_slice(slice, limits, pool);
    return unpacked ? "" : unpacked.error().message;
  }
};

/// The ids of one row and feature.
std::vector<std::int64_t> bag(const Batch& batch, std::size_t feature, std::size_t row) {
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  std::size_t first = 0;
  for (const std::int32_t* at = batch.lengths; at < lengths + row; ++at) {
    first += static_cast<std::size_t>(*at);
  }
  return {batch.ids + first, batch.ids + first + lengths[row]};
}

/// Whether `slice` has rows [first, end) of `whole`.
bool same_rows(const Batch& whole, const Batch& slice, std::size_t first, std::size_t end) {
  if (slice.rows != end - first || slice.number != whole.number) return false;
  for (std::size_t row = 0; row < slice.rows; ++row) {
    const std::size_t at = first + row;
    if (slice.labels[row] != whole.labels[at]) return false;
    for (std::size_t i = 0; i < whole.dense_features; ++i) {
      const std::size_t width = whole.dense_features;
      if (slice.dense[row * width + i] != whole.dense[at * width + i]) return false;
    }
    for (std::size_t feature = 0; feature < whole.sparse_features; ++feature) {
      if (bag(slice, feature, row) != bag(whole, feature, at)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("the ranks' rows are the batch's, in order, and as many each as can be",
          "[tools][ranks]") {
  for (std::size_t rows : {0, 1, 3, 8, 13}) {
    for (int ranks : {1, 2, 4, 5}) {
      std::size_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, end] = rows_of_rank(rows, rank, ranks);
        CHECK(first == next);
        CHECK(end - first <= rows / static_cast<std::size_t>(ranks) + 1);
        next = end;
      }
      CHECK(next == rows);
    }
  }
  CHECK(rows_of_rank(8, 1, 4) == std::pair<std::size_t, std::size_t>{2, 4});
}

TEST_CASE_METHOD(SliceFixture, "a slice has its rows and no others, before and after it travelled",
                 "[tools][ranks]") {
  const auto batch = whole();
  const auto [first, end] = GENERATE(
      std::pair<std::size_t, std::size_t>{0, 11}, std::pair<std::size_t, std::size_t>{3, 7},
      std::pair<std::size_t, std::size_t>{9, 11}, std::pair<std::size_t, std::size_t>{4, 4});
  const auto slice = slice_rows(*batch, first, end, pool);
  CHECK(same_rows(*batch, *slice, first, end));
  CHECK(slice->after == batch->after);
  const auto arrived = unpack_slice(packed_slice(slice), limits, pool);
  REQUIRE(arrived);
  CHECK(same_rows(*batch, **arrived, first, end));
  CHECK((*arrived)->labels == slice->labels);  // Nothing was copied.
}

TEST_CASE_METHOD(SliceFixture, "a slice has its rows' weights, and must have them as agreed",
                 "[tools][ranks]") {
  const auto batch = whole();
  data.weights = true;
  const auto slice = slice_rows(*whole(), 3, 7, pool);
  CHECK(refusal(packed_slice(slice)).find("other columns") != std::string::npos);
  limits.weighted = true;
  CHECK(refusal(packed_slice(slice_rows(*batch, 3, 7, pool))).find("other columns") !=
        std::string::npos);
  const auto arrived = unpack_slice(packed_slice(slice), limits, pool);
  REQUIRE(arrived);
  CHECK(same_rows(*batch, **arrived, 3, 7));
  CHECK(std::vector<float>((*arrived)->weights, (*arrived)->weights + 4) ==
        std::vector<float>{2.25F, 3, 0, 0.75F});
}

TEST_CASE_METHOD(SliceFixture, "a slice in memory that is not aligned is copied",
                 "[tools][ranks]") {
  const auto batch = whole();
  BatchSlice slice = packed_slice(slice_rows(*batch, 2, 9, pool));
  const Frame aligned = slice.frames[0];
  auto bytes = std::make_shared<std::vector<std::byte>>(aligned.size() + 1);
  std::memcpy(bytes->data() + 1, aligned.data(), aligned.size());
  slice.frames[0] = Frame(bytes, bytes->data() + 1, aligned.size());
  const auto arrived = unpack_slice(slice, limits, pool);
  REQUIRE(arrived);
  CHECK(same_rows(*batch, **arrived, 2, 9));
}

TEST_CASE_METHOD(SliceFixture, "a slice that does not fit together is refused", "[tools][ranks]") {
  const auto batch = whole();
  const BatchSlice good = packed_slice(slice_rows(*batch, 0, 11, pool));
  BatchSlice slice = good;
  CHECK(refusal(slice).empty());
  SECTION("more rows than a batch") {
    limits.rows = 10;
    CHECK(refusal(slice) == "rank 0 sent a slice of batch 5 with 11 rows, above 10");
  }
  SECTION("other columns") {
    slice.sparse_features = 3;
    CHECK(refusal(slice) == "rank 0 sent a slice of batch 5 with other columns");
  }
  SECTION("fewer bytes") {
    const Frame& whole_frame = good.frames[0];
    slice.frames[0] = Frame(whole_frame.keeper(), whole_frame.data(), whole_frame.size() - 8);
    CHECK(refusal(slice).ends_with("with another number of ids than it says"));
  }
  SECTION("no bytes") {
    slice.frames.clear();
    CHECK(refusal(slice).ends_with("fewer bytes than ids"));
  }
  SECTION("a length that is negative") {
    const auto bad = slice_rows(*batch, 0, 11, pool);
    bad->lengths[0] -= 10;
    bad->lengths[1] += 10;
    CHECK(refusal(packed_slice(bad)).ends_with("with another number of ids than it says"));
  }
}

TEST_CASE_METHOD(SliceFixture, "ids travel, and those that do not fit together are refused",
                 "[tools][ranks]") {
  const auto batch = whole();
  const BatchIds good = packed_ids(copy_ids(*batch, pool));
  const auto arrived = unpack_ids(good, 11, 2, pool);
  REQUIRE(arrived);
  CHECK((*arrived)->number == 5);
  for (std::size_t feature = 0; feature < 2; ++feature) {
    for (std::size_t row = 0; row < 11; ++row) {
      CHECK(bag(**arrived, feature, row) == bag(*batch, feature, row));
    }
  }
  CHECK_FALSE(unpack_ids(good, 10, 2, pool));
  CHECK_FALSE(unpack_ids(good, 11, 1, pool));
  BatchIds other = good;
  other.num_ids -= 1;
  CHECK_FALSE(unpack_ids(other, 11, 2, pool));
  other = good;
  other.frames.clear();
  CHECK_FALSE(unpack_ids(other, 11, 2, pool));
}

namespace {

/// A batch whose rows share lists of features 0 and 2, and of feature 3.
struct SharedSliceFixture : SliceFixture {
  test::SharedLists lists;

  SharedSliceFixture() : lists(shared_base(), 4, 9) {
    limits = {.rows = 11, .dense_features = 3, .sparse_features = 5};
  }
  std::shared_ptr<const Batch> shared_base() {
    data.sparse = 5;
    return whole();
  }
};

/// The frame of a slice with the first two lists of its last group in the other order.
Frame with_first_rows_swapped(const BatchSlice& slice) {
  const Frame& frame = slice.frames[0];
  auto bytes = std::make_shared<std::vector<std::byte>>(frame.data(), frame.data() + frame.size());
  const std::size_t lists = slice.groups.back().unique * sizeof(std::uint32_t);
  std::byte* first = bytes->data() + bytes->size() - Buffer::kPadding - lists;
  std::swap_ranges(first, first + sizeof(std::uint32_t), first + sizeof(std::uint32_t));
  return {bytes, bytes->data(), bytes->size()};
}

/// Whether each row of the slice refers to the list that it has in `plain` from row `first` on.
bool same_lists(const Batch& plain, const Batch& slice, std::size_t first) {
  const BatchLists lists(slice);
  for (std::size_t feature = 0; feature < slice.sparse_features; ++feature) {
    const auto ids = lists.ids(feature);
    for (std::size_t row = 0; row < slice.rows; ++row) {
      const auto list = ids[lists.number(feature, row)];
      if (!std::ranges::equal(list, bag(plain, feature, first + row))) return false;
    }
  }
  return are_sound(slice.repeats, slice.rows);
}

}  // namespace

TEST_CASE_METHOD(SharedSliceFixture, "a slice has the lists that its rows share once",
                 "[tools][ranks]") {
  const auto [first, end] = GENERATE(
      std::pair<std::size_t, std::size_t>{0, 11}, std::pair<std::size_t, std::size_t>{3, 7},
      std::pair<std::size_t, std::size_t>{9, 11}, std::pair<std::size_t, std::size_t>{4, 4});
  const auto slice = slice_rows(lists.stored, first, end, pool);
  CHECK(slice->lists_once);
  CHECK(same_lists(lists.plain, *slice, first));
  const auto arrived = unpack_slice(packed_slice(slice), limits, pool);
  REQUIRE(arrived);
  CHECK((*arrived)->repeats.size() == 2);
  CHECK((*arrived)->num_ids == slice->num_ids);
  CHECK(same_lists(lists.plain, **arrived, first));
  const auto plain = slice_rows(lists.once, first, end, pool);
  CHECK(plain->repeats.empty());
  CHECK(same_lists(lists.plain, *plain, first));
}

TEST_CASE_METHOD(SharedSliceFixture, "ids of lists that rows share travel once", "[tools][ranks]") {
  const auto copy = copy_ids(lists.stored, pool);
  CHECK(copy->num_ids == lists.stored.num_ids);
  const auto arrived = unpack_ids(packed_ids(copy), 11, 5, pool);
  REQUIRE(arrived);
  CHECK(same_lists(lists.plain, **arrived, 0));
  CHECK(copy_ids(lists.once, pool)->repeats.empty());
}

TEST_CASE_METHOD(SharedSliceFixture, "a slice whose shared lists make no sense is refused",
                 "[tools][ranks]") {
  const auto good = slice_rows(lists.stored, 0, 11, pool);
  BatchSlice slice = packed_slice(good);
  CHECK(refusal(slice).empty());
  std::string what = "other shared lists";
  SECTION("a feature that no slice has") { slice.groups[1].features = {5}; }
  SECTION("a feature in two groups") { slice.groups[1].features = {2}; }
  SECTION("more lists than rows") { slice.groups[0].unique = 12; }
  SECTION("numbers of other rows") {
    what = "another number of ids";
    slice.frames[0] = with_first_rows_swapped(slice);
  }
  SECTION("rows that share a list of another length") {
    what = "another number of ids";
    const std::uint32_t* firsts = good->repeats[0].first_rows;
    const std::uint32_t* numbers = good->repeats[0].numbers;
    std::size_t row = 0;
    while (firsts[numbers[row]] == row) ++row;
    good->lengths[row] += 1;
  }
  SECTION("fewer lists than rows refer to") {
    what = "another number of ids";
    slice.groups[0].unique -= 1;
  }
  CHECK(refusal(slice) == "rank 0 sent a slice of batch 5 with " + what + " than it says");
}
