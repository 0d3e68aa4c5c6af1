#include "trainer/embedding/tiered/disk_rows.h"

#include <array>
#include <cstring>
#include <vector>

#include "tests/support/temp_dir.h"
#include "trainer/embedding/slot_metadata.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a slot is pinned until the last of its turns is finished", "[trainer][embedding]") {
  SlotPins pins(4);
  pins.pin(0, 1);
  pins.pin(1, 1);
  pins.pin(1, 3);
  pins.pin(1, 3);
  CHECK(pins.pinned() == 2);
  pins.finish(1);
  CHECK_FALSE(pins.is_pinned(0));
  CHECK(pins.is_pinned(1));
  CHECK(pins.pinned() == 1);
  pins.finish(3);
  CHECK(pins.pinned() == 0);
  pins.pin(2, 5);
  pins.clear();
  CHECK_FALSE(pins.is_pinned(2));
  CHECK(pins.finished() == 3);
}

namespace {

/// Two tables of 3 and 5 rows: a row has two weights and one value of state.
struct DiskRowsFixture {
  const test::TempDir temp;
  const TableLayout layout{.rows = {3, 5}, .width = 2, .dim = 2, .state_width = 1, .seed = 7};
  DiskRows rows{layout, temp.path("rows")};

  DiskRowsFixture() { REQUIRE(rows.open("")); }

  std::array<float, 3> row(std::uint64_t number) {
    std::array<float, 3> values{};
    REQUIRE(rows.log().read({&number, 1}, [&](std::size_t, std::span<const std::byte> bytes) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }));
    return values;
  }
  void put(std::uint64_t number, std::vector<float> values, StateTensor::Part part) {
    REQUIRE(rows.write_part({&number, 1}, values, part));
  }
};

}  // namespace

TEST_CASE_METHOD(DiskRowsFixture, "rows are numbered over all tables", "[trainer][embedding]") {
  CHECK(rows.rows() == 8);
  CHECK(rows.first_of(1) == 3);
  CHECK(rows.has(7));
  CHECK_FALSE(rows.has(8));
  CHECK_FALSE(rows.has(-1));
}

TEST_CASE_METHOD(DiskRowsFixture, "a row's state is replaced without its weights",
                 "[trainer][embedding]") {
  put(4, {1, 2}, StateTensor::Part::kWeights);
  CHECK(rows.was_written(4));
  CHECK_FALSE(rows.was_written(3));
  CHECK(row(4) == std::array<float, 3>{1, 2, 0});
  put(4, {9}, StateTensor::Part::kOptimizer);
  CHECK(row(4) == std::array<float, 3>{1, 2, 9});
}

TEST_CASE_METHOD(DiskRowsFixture, "a row that only has a state keeps its first weights",
                 "[trainer][embedding]") {
  std::array<float, 2> first{};
  rows.fill_first(1, 5, first);
  put(5, {9}, StateTensor::Part::kOptimizer);
  CHECK(row(5) == std::array<float, 3>{first[0], first[1], 9});
}
