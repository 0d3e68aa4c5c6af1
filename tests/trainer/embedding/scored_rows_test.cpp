#include "trainer/embedding/scored_rows.h"

#include <algorithm>
#include <cstring>

#include "core/store/rows/row_log.h"
#include "tests/support/temp_dir.h"
#include "trainer/embedding/table_storage.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Part = StateTensor::Part;
using Storage = TrainerSpec::Storage;

constexpr std::size_t kScoredWidth = 2;

/// A state with tensors that a test writes by hand.
class WrittenState final : public StateSource {
 public:
  template <class T>
  void add(const std::string& name, Part part, ElementType type, std::vector<std::int64_t> shape,
           const std::vector<T>& values) {
    tensors_.push_back({.name = name, .part = part, .type = type, .shape = std::move(shape)});
    const auto bytes = std::as_bytes(std::span(values));
    values_.emplace_back(bytes.begin(), bytes.end());
  }

  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) override {
    std::memcpy(to.data(), values_[index].data() + offset, to.size());
    return {};
  }
  Result<std::string> files_folder() override { return folder; }

  std::string folder;

 private:
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<std::byte>> values_;
};

TrainerSpec spec_of(Storage storage) {
  TrainerSpec spec;
  spec.tables.storage = storage;
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  spec.seed = 5;
  return spec;
}

ModelShape shape_with(std::vector<std::int64_t> rows) {
  ModelShape shape;
  shape.embedding_dim = kScoredWidth;
  shape.table_rows = std::move(rows);
  return shape;
}

/// The tables that scoring needs, table by table.
Result<std::vector<std::vector<float>>> tables_in(ScoredRows& rows, StateSource& state) {
  std::vector<std::vector<float>> tables;
  for (std::size_t table = 0; table < rows.tables(); ++table) {
    tables.emplace_back(rows.rows(table) * kScoredWidth, -1.0f);
  }
  if (auto begun = rows.begin(state, {tables.begin(), tables.end()}); !begun) return pass(begun);
  for (std::size_t index = 0; index < state.tensors().size(); ++index) {
    if (state.tensors()[index].part != Part::kWeights) continue;
    if (auto taken = rows.take(state, index); !taken) return pass(taken);
  }
  if (auto ended = rows.end(); !ended) return pass(ended);
  return tables;
}

/// One hashed table of four slots: two keys, one slot that was never used.
WrittenState hashed() {
  WrittenState state;
  state.add<float>("table.0", Part::kWeights, ElementType::kF32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  state.add<std::uint64_t>("tables.steps", Part::kTables, ElementType::kU64, {1}, {9});
  state.add<std::int64_t>("table.0.keys", Part::kTables, ElementType::kI64, {4}, {0, 70, 0, -3});
  state.add<std::uint64_t>("table.0.seen", Part::kTables, ElementType::kU64, {4}, {0, 8, 0, 9});
  return state;
}

/// Tables of three and two rows in tiers, of which rows 1 and 4 are on the disk and 1 and 2 in
/// memory.
struct TieredState {
  explicit TieredState(const std::vector<std::int64_t>& in_memory = {-1, 2, 1},
                       const std::vector<std::uint8_t>& on_disk = {0b10010}) {
    {
      auto disk = RowLog::create(dir.path("live"), {.row_bytes = 8, .most_rows = 5}).value();
      const std::vector<std::uint64_t> numbers = {1, 4};
      const std::vector<float> rows = {10, 11, 40, 41};
      REQUIRE(disk->write(numbers, [&](std::size_t place, std::span<std::byte> row) {
        std::memcpy(row.data(), rows.data() + place * kScoredWidth, row.size());
      }));
      REQUIRE(disk->link(dir.path("files")));
    }
    state.folder = dir.path("files");
    state.add<float>("tables.rows", Part::kWeights, ElementType::kF32, {3, 2},
                     {-5, -5, 20, 21, 12, 13});
    state.add<std::int64_t>("tables.keys", Part::kTables, ElementType::kI64, {3}, in_memory);
    state.add<std::uint8_t>("tables.written", Part::kTables, ElementType::kU8, {1}, on_disk);
  }

  Result<std::vector<std::vector<float>>> tables() {
    auto rows = ScoredRows::open(spec_of(Storage::kTiered), shape_with({3, 2}), state);
    if (!rows) return pass(rows);
    return tables_in(**rows, state);
  }

  test::TempDir dir;
  WrittenState state;
};

std::vector<float> first_values(std::size_t feature, std::int64_t rows, std::int64_t key) {
  std::vector<float> values(kScoredWidth);
  RowValues(5, feature, rows, kScoredWidth).fill(key, values);
  return values;
}

}  // namespace

TEST_CASE("of a hashed table the shared row comes first, then those of the keys, ascending",
          "[trainer][embedding]") {
  WrittenState state = hashed();
  auto rows = ScoredRows::open(spec_of(Storage::kHashed), shape_with({4}), state);
  REQUIRE(rows);
  CHECK((*rows)->rows(0) == 3);
  CHECK(std::ranges::equal((*rows)->keys(0), std::vector<std::int64_t>{-3, 70}));
  CHECK((*rows)->bytes() == 3 * 8 + 2 * 8);
  CHECK(tables_in(**rows, state).value()[0] == std::vector<float>{1, 2, 7, 8, 3, 4});
}

TEST_CASE("a table in tiers is its first values, what is on the disk, and what lay in memory",
          "[trainer][embedding]") {
  TieredState given;
  const auto tables = given.tables();
  REQUIRE(tables);
  std::vector<float> first = first_values(0, 3, 0);
  first.insert(first.end(), {12, 13, 20, 21});
  CHECK((*tables)[0] == first);
  std::vector<float> second = first_values(1, 2, 0);
  second.insert(second.end(), {40, 41});
  CHECK((*tables)[1] == second);
}

TEST_CASE("tables that do not fit together are refused", "[trainer][embedding]") {
  const auto refusal = [](const auto& read) {
    REQUIRE_FALSE(read);
    CHECK(read.error().code == Code::kCorrupt);
    return read.error().message;
  };
  SECTION("a row outside of the tables") {
    CHECK_THAT(refusal(TieredState({-1, 5, 1}).tables()), Catch::Contains("that they have not"));
    CHECK_THAT(refusal(TieredState({-1, -2, 1}).tables()), Catch::Contains("that they have not"));
  }
  SECTION("a missing row on the disk") {
    CHECK_THAT(refusal(TieredState({-1, 2, 1}, {0b10011}).tables()),
               Catch::Contains("lost 1 of 3 rows"));
  }
  SECTION("no rows") {
    WrittenState state;
    auto rows = ScoredRows::open(spec_of(Storage::kMemory), shape_with({4}), state);
    REQUIRE(rows);
    CHECK(refusal(tables_in(**rows, state)) == "the checkpoint lacks table.0");
  }
  SECTION("no keys of hashed rows") {
    WrittenState state;
    state.add<float>("table.0", Part::kWeights, ElementType::kF32, {1, 2}, {1, 2});
    auto rows = ScoredRows::open(spec_of(Storage::kHashed), shape_with({1}), state);
    CHECK(refusal(rows) == "the checkpoint lacks table.0.keys");
  }
  SECTION("another extent") {
    WrittenState state = hashed();
    auto rows = ScoredRows::open(spec_of(Storage::kHashed), shape_with({5}), state);
    CHECK(refusal(rows) == "table.0.keys has other extents than the model");
  }
}

TEST_CASE("a row on the disk that is of another size is refused", "[trainer][embedding]") {
  TieredState given;
  auto spec = spec_of(Storage::kTiered);
  spec.optimizer = TrainerSpec::Optimizer::kAdagrad;
  auto rows = ScoredRows::open(spec, shape_with({3, 2}), given.state);
  REQUIRE(rows);
  const auto tables = tables_in(**rows, given.state);
  REQUIRE_FALSE(tables);
  CHECK_THAT(tables.error().message, Catch::Contains("of another size"));
}
