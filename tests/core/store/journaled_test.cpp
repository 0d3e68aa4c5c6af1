#include "core/store/journaled.h"

#include <numeric>

#include "core/base/random.h"
#include "core/store/store.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// A sum that must not become negative; counts the events applied to it.
struct Sum {
  using Event = int;

  Status apply(int event) {
    if (value + event < 0) return fail(Code::kInvalid, "the sum would be negative");
    value += event;
    ++events;
    return {};
  }
  std::string encode() const { return std::to_string(value) + " " + std::to_string(events); }
  static Result<Sum> decode(std::string_view bytes) {
    const std::string text(bytes);
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) return fail(Code::kCorrupt, "no sum");
    return Sum{std::stoi(text), std::stoi(text.substr(space))};
  }
  static std::string encode_event(int event) { return std::to_string(event); }
  static Result<int> decode_event(std::string_view bytes) { return std::stoi(std::string(bytes)); }
  bool operator==(const Sum&) const = default;

  int value = 0;
  int events = 0;
};

/// A MemoryStore that can be set to refuse writes, and that counts them.
class MoodyStore final : public Store {
 public:
  bool refuses = false;
  bool writes_and_refuses = false;
  int writes = 0;
  MemoryStore kept;

  Result<std::string> get(std::string_view key) const override { return kept.get(key); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return kept.scan(prefix, from, visit);
  }
  Status write(const StoreBatch& batch) override {
    ++writes;
    if (writes_and_refuses) static_cast<void>(kept.write(batch));
    if (refuses || writes_and_refuses) return fail(Code::kUnavailable, "the disk is full");
    return kept.write(batch);
  }
  std::size_t num_events() const {
    std::size_t count = 0;
    REQUIRE(kept.scan("event/", "", [&count](auto, auto) { return ++count > 0; }));
    return count;
  }
};

using Journal = Journaled<Sum>;
Journal open(Store& store, std::size_t snapshot_every = 1000) {
  return Journal::open(store, {.snapshot_every = snapshot_every}).value();
}

TEST_CASE("events are on disk before any actor acts on them, with one sync a group",
          "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store);
  std::vector<int> acted;
  for (const int event : {5, 6, 7}) {
    journal.record(event, [&, event](const Status& status) {
      REQUIRE(status);
      REQUIRE(store.num_events() == 3);
      acted.push_back(event);
    });
  }
  CHECK(journal.state() == Sum{});
  CHECK(acted.empty());
  REQUIRE(journal.flush());
  CHECK(acted == std::vector<int>{5, 6, 7});
  CHECK(store.writes == 1);
  CHECK(journal.state() == Sum{18, 3});
  CHECK(open(store).state() == Sum{18, 3});
  REQUIRE(journal.flush());
  CHECK(store.writes == 1);
}

TEST_CASE("an event that the state refuses is reported to its recorder and not kept",
          "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store);
  std::vector<bool> ended;
  for (const int event : {2, -3, 4}) {
    journal.record(event, [&ended](const Status& status) { ended.push_back(status.has_value()); });
  }
  REQUIRE(journal.flush());
  CHECK(ended == std::vector<bool>{true, false, true});
  CHECK(store.num_events() == 2);
  CHECK(journal.commit(-7).error().code == Code::kInvalid);
  CHECK(open(store).state() == Sum{6, 2});
}

TEST_CASE("a group that the store refuses leaves the state as it is on disk",
          "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store);
  REQUIRE(journal.commit(1));
  store.refuses = true;
  const auto refused = journal.commit(10);
  CHECK(refused.error().code == Code::kUnavailable);
  CHECK(journal.state() == Sum{1, 1});
  store.refuses = false;
  REQUIRE(journal.commit(100));
  CHECK(journal.state() == Sum{101, 2});
  CHECK(open(store).state() == Sum{101, 2});

  SECTION("also when the event is in the store after all") {
    store.writes_and_refuses = true;
    CHECK_FALSE(journal.commit(1000));
    CHECK(journal.state() == Sum{1101, 3});
    store.writes_and_refuses = false;
    REQUIRE(journal.commit(1));
    CHECK(open(store).state() == Sum{1102, 4});
  }
}

TEST_CASE("a snapshot takes the place of the events before it", "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store, 10);
  for (int event = 1; event <= 25; ++event) REQUIRE(journal.commit(event));
  // Snapshots after events 10 and 20; 21 … 25 follow the second.
  CHECK(store.num_events() == 5);
  const Journal again = open(store, 10);
  CHECK(again.state() == Sum{25 * 26 / 2, 25});
  CHECK(again.recovery().snapshot == 20);
  CHECK(again.recovery().events == 5);
  CHECK(again.recovery().cut.empty());
}

TEST_CASE("a damaged, torn or missing event cuts the journal there, for good",
          "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store, 10);
  for (int event = 1; event <= 15; ++event) REQUIRE(journal.commit(event));
  const std::string key = journal::event_key(13);
  std::string record = store.get(key).value();
  StoreBatch damage;
  SECTION("a bit has changed") {
    record.back() ^= 1;
    damage.put(key, record);
  }
  SECTION("its end is missing") {
    record.pop_back();
    damage.put(key, record);
  }
  SECTION("only a torn checksum is left") { damage.put(key, record.substr(0, 3)); }
  SECTION("it is missing") { damage.erase(key); }
  SECTION("it is the record of another event") {
    damage.put(key, store.get(journal::event_key(12)).value());
  }
  REQUIRE(store.kept.write(damage));
  Journal cut = open(store, 10);
  CHECK(cut.state() == Sum{12 * 13 / 2, 12});
  CHECK(cut.recovery().cut.find("before event 13") != std::string::npos);
  // Events behind the cut must not come back when their numbers are used again.
  REQUIRE(cut.commit(1000));
  const Journal again = open(store, 10);
  CHECK(again.state() == Sum{1078, 13});
  CHECK(again.recovery().cut.empty());
}

TEST_CASE("a damaged snapshot is an error that says what to do", "[core][store][journal]") {
  MoodyStore store;
  Journal journal = open(store, 2);
  for (int event = 1; event <= 3; ++event) REQUIRE(journal.commit(event));
  std::string record = store.get(journal::kSnapshotKey).value();
  record[9] ^= 1;
  StoreBatch damage;
  damage.put(journal::kSnapshotKey, record);
  REQUIRE(store.kept.write(damage));
  const auto opened = Journal::open(store);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::kCorrupt);
}

TEST_CASE("a reopened journal has the same state after any records, flushes and refusals",
          "[core][store][journal]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    MoodyStore store;
    Journal journal = open(store, 1 + random.below(9));
    Sum expected;
    std::vector<int> waiting;
    for (int step = 0; step < 60; ++step) {
      if (random.below(3) > 0) {
        const int event = static_cast<int>(random.below(40)) - 15;
        waiting.push_back(event);
        journal.record(event);
        continue;
      }
      store.refuses = random.below(4) == 0;
      if (journal.flush()) {
        for (const int event : waiting) static_cast<void>(expected.apply(event));
      }
      waiting.clear();
      store.refuses = false;
      REQUIRE(journal.state() == expected);
      REQUIRE(open(store).state() == expected);
    }
  }
}

}  // namespace
}  // namespace forebay
