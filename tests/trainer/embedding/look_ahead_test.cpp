#include "trainer/embedding/look_ahead.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "tests/support/wait_until.h"
#include "tests/trainer/embedding/table_run.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// One table without rows. Has slots for so many turns, and throws at a turn or when it is
/// borrowed.
class ScriptedStorage final : public TableStorage {
 public:
  std::vector<std::int64_t> folds() const override { return {0}; }
  RowArena& arena(std::size_t) override { throw std::logic_error("there is no arena"); }
  bool looks_ahead() const override { return true; }
  Status prepare(BatchRows&, std::uint64_t turn) override {
    ++tries;
    if (turn == throws_at) throw std::runtime_error("the slots broke");
    if (turn > finished + slots) return fail(Code::kOverloaded, "no slots");
    prepared = turn;
    return {};
  }
  void finish(std::uint64_t turn) override { finished = turn; }
  Status borrow(BatchRows&, Use) override { return {}; }
  void give_back(const BatchRows&) override { slots = 2; }
  std::vector<TableTiers> tiers() const override { return {}; }

  std::atomic<std::uint64_t> slots{2};
  std::atomic<std::uint64_t> throws_at{0};
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::uint64_t> prepared{0};
  std::atomic<int> tries{0};
};

struct AheadFixture {
  AheadFixture() {
    for (std::uint64_t number = 1; number <= 5; ++number) {
      lists.push_back(
          std::make_unique<test::ListBatch>(7, number, std::vector<std::int64_t>{50}, 4));
    }
  }
  const Batch& batch(std::size_t number) const { return lists.at(number - 1)->batch; }
  void announce(std::size_t number) {
    ahead.prefetch(std::shared_ptr<const Batch>(&batch(number), [](const Batch*) {}));
  }

  std::vector<std::unique_ptr<test::ListBatch>> lists;
  ScriptedStorage storage;
  LookAhead ahead{storage, 1};
};

}  // namespace

TEST_CASE_METHOD(AheadFixture, "a batch without free slots waits until one before it has ended",
                 "[trainer][embedding]") {
  for (std::size_t number = 1; number <= 4; ++number) announce(number);
  REQUIRE(ahead.begin(batch(1)));
  test::wait_until([&] { return storage.tries == 3; });  // The third finds no slots.
  CHECK(storage.prepared == 2);
  ahead.end();
  REQUIRE(ahead.begin(batch(2)));
  test::wait_until([&] { return storage.prepared == 3; });
  ahead.end();
  REQUIRE(ahead.begin(batch(4)));  // The third is skipped.
  ahead.end();
  CHECK(ahead.while_still([]() -> Status { return {}; }));
  CHECK(storage.finished == 4);
}

TEST_CASE_METHOD(AheadFixture, "a batch that is alone and has no slots is an error",
                 "[trainer][embedding]") {
  storage.slots = 0;
  announce(1);
  CHECK(ahead.begin(batch(1)).error().message == "no slots");
}

TEST_CASE_METHOD(AheadFixture, "a batch waits while another one has borrowed the slots",
                 "[trainer][embedding]") {
  storage.slots = 0;
  REQUIRE(ahead.begin(batch(5)));  // Not announced.
  announce(1);
  test::wait_until([&] { return storage.tries > 0; });
  ahead.end();
  CHECK(ahead.begin(batch(1)));
}

TEST_CASE_METHOD(AheadFixture, "forgotten batches are not prepared, and later ones are",
                 "[trainer][embedding]") {
  for (std::size_t number = 1; number <= 4; ++number) announce(number);
  ahead.prefetch(nullptr);
  CHECK(storage.prepared <= 2);
  announce(5);
  REQUIRE(ahead.begin(batch(5)));
  CHECK(storage.finished == 4);
}

TEST_CASE_METHOD(AheadFixture, "a crash ends looking ahead, and the tables are used no more",
                 "[trainer][embedding]") {
  storage.throws_at = 2;
  for (std::size_t number = 1; number <= 3; ++number) announce(number);
  REQUIRE(ahead.begin(batch(1)));
  ahead.end();
  const std::string crash = "looking ahead failed: the slots broke";
  CHECK(ahead.begin(batch(2)).error() == Error{Code::kUnavailable, crash});
  CHECK_THAT(ahead.begin(batch(3)).error().message, Catch::Contains(crash));
  const std::string refused = "looking ahead failed";
  CHECK(ahead.begin(batch(5)).error().message == refused);
  CHECK(ahead.begin(batch(1), TableStorage::Use::kScore).error().message == refused);
  CHECK(ahead.while_still([]() -> Status { return {}; }).error().message == refused);
  announce(4);
  CHECK_THAT(ahead.begin(batch(4)).error().message, Catch::Contains(crash));
  ahead.prefetch(nullptr);
}
