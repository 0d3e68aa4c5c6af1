#include "actors/position_check.h"

#include <algorithm>
#include <array>
#include <string>

#include "tests/actors/counted_job.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::CountedJob;
using Mode = OrderSpec::Mode;
using Shuffle = OrderSpec::Shuffle;
constexpr std::uint64_t kSeed = 20261122;

const std::vector<CountedJob::Shape>& shapes() {
  static const std::vector<CountedJob::Shape> all = {
      {},
      {.damages = true, .holds_out = true},
      {.drop_last = true, .damages = true, .holds_out = true},
      {.shuffle = Shuffle::kFile, .damages = true},
      {.shuffle = Shuffle::kNone, .holds_out = true},
      {.mode = Mode::kArrival},
      {.mode = Mode::kArrival, .damages = true, .holds_out = true},
      {.mode = Mode::kArrival, .drop_last = true, .damages = true},
      {.damages = true, .holds_out = true, .parts = 5},
      {.drop_last = true, .damages = true, .parts = 40},
      {.mode = Mode::kArrival, .damages = true, .parts = 5},
  };
  return all;
}

LoaderState state_at(const Position& position, std::uint64_t version) {
  return {.position = position, .fingerprint = {}, .identity = {}, .version = version};
}

/// As version 1 writes it.
Position without_left_out(Position position) {
  position.left_out = 0;
  return position;
}

Result<Position> checked(const CountedJob& job, const Position& position, std::uint64_t version) {
  return check_position(state_at(position, version), job.facts());
}

/// Positions at the start, in the middle and at the end of both epochs.
std::vector<Position> some_positions(CountedJob& job) {
  const auto all = job.run({}, kSeed).positions;
  std::vector<Position> some = {Position{}};
  for (std::size_t i = 0; i < all.size(); i += 5) some.push_back(all[i]);
  some.push_back(all.back());
  return some;
}

struct Number {
  const char* key;
  std::uint64_t Position::*member;
};
constexpr std::array kNumbers = {
    Number{"epoch", &Position::epoch},           Number{"split", &Position::split},
    Number{"split_rows", &Position::split_rows}, Number{"open_split", &Position::open_split},
    Number{"batches", &Position::batches},       Number{"rows", &Position::rows},
    Number{"bad_rows", &Position::bad_rows},     Number{"held_out", &Position::held_out},
    Number{"left_out", &Position::left_out}};

std::uint64_t another(std::uint64_t value, Random& random) {
  switch (random.below(8)) {
    case 0:
      return value + 1;
    case 1:
      return value - 1;
    case 2:
      return 0;
    case 3:
      return value + 50;  // a batch of rows
    case 4:
      return value ^ (std::uint64_t{1} << random.below(64));
    case 5:
      return ~std::uint64_t{0} - random.below(3);
    default:
      return random.below(2 * std::min<std::uint64_t>(value, 4000) + 40);
  }
}

void mutate_ahead(Position& position, Random& random) {
  auto& ahead = position.ahead;
  if (ahead.empty() || random.below(3) == 0) {
    ahead.push_back((ahead.empty() ? 0 : ahead.back()) + 1 +
                    static_cast<std::uint32_t>(random.below(4)));
  } else if (random.below(2) == 0) {
    ahead.pop_back();
  } else {
    ahead[random.below(ahead.size())] += 1;
  }
}

}  // namespace

TEST_CASE(
    "every position that a run reaches is accepted, and the key that version 1 lacks is computed",
    "[actors][position]") {
  for (const CountedJob::Shape& shape : shapes()) {
    CountedJob job(shape);
    const auto ended = job.run({}, kSeed);
    REQUIRE(ended.finished);
    // 1101 rows in batches of 50, less a sixteenth for damaged and another for held-out ones.
    CHECK(ended.positions.size() > 2 * 1101 * 14 / 16 / 50);
    CHECK(checked(job, {}, 1) == Position{});
    for (const Position& position : ended.positions) {
      CHECK(checked(job, position, 2) == position);
      CHECK(checked(job, without_left_out(position), 1) == position);
    }
  }
}

TEST_CASE("a run from any position that is accepted ends where the uninterrupted one does",
          "[actors][position]") {
  for (const CountedJob::Shape& shape : shapes()) {
    CountedJob job(shape);
    const Position end = job.run({}, kSeed).position;
    for (const Position& position : some_positions(job)) {
      const auto rest = job.run(checked(job, without_left_out(position), 1).value(), kSeed + 1);
      CHECK(rest.finished);
      CHECK(position.rows + rest.rows == end.rows);
      const bool digest_is_one = shape.mode == Mode::kExact;
      CHECK((!digest_is_one || rest.position == end));
    }
  }
}

TEST_CASE("a position with one changed number is refused by that number or one it contradicts",
          "[actors][position]") {
  Random random(kSeed);
  for (const CountedJob::Shape& shape : shapes()) {
    CountedJob job(shape);
    for (const Position& position : some_positions(job)) {
      for (int i = 0; i < 200; ++i) {
        const Number& number = kNumbers[random.below(kNumbers.size())];
        Position other = position;
        other.*number.member = another(position.*number.member, random);
        if (other == position) continue;
        const auto found = checked(job, other, 2);
        CAPTURE(kSeed, number.key, position.*number.member, other.*number.member, position.epoch);
        if (found) {
          // With drop_last a few more damaged rows give the same number of batches; in arrival
          // order any remaining split may be the one that is begun.
          const bool counts =
              position.epoch > 0 && shape.drop_last &&
              (number.member == &Position::bad_rows || number.member == &Position::held_out);
          const bool open = shape.mode == Mode::kArrival && number.member == &Position::open_split;
          REQUIRE((counts || open));
          continue;
        }
        REQUIRE(found.error().code == Code::kCorrupt);
        REQUIRE_THAT(found.error().message,
                     Catch::StartsWith("resume refused: the loader state does not fit"));
      }
    }
  }
}

TEST_CASE("without a checksum a changed number is refused, or fails at the end of the epoch",
          "[actors][position]") {
  Random random(kSeed);
  std::size_t shown_late = 0;
  for (const CountedJob::Shape& shape : shapes()) {
    if (shape.mode == Mode::kArrival || shape.drop_last) continue;
    CountedJob job(shape);
    for (const Position& position : some_positions(job)) {
      for (int i = 0; i < 200; ++i) {
        const Number& number = kNumbers[random.below(kNumbers.size() - 1)];
        Position other = without_left_out(position);
        other.*number.member = another(position.*number.member, random);
        if (other == without_left_out(position)) continue;
        const auto found = checked(job, other, 1);
        if (!found) continue;
        CAPTURE(kSeed, number.key, position.*number.member, other.*number.member, position.epoch);
        const auto ended = job.run(*found, kSeed);
        REQUIRE_FALSE(ended.status);
        REQUIRE(ended.status.error().code == Code::kCorrupt);
        ++shown_late;
      }
    }
  }
  CHECK(shown_late > 0);
}

TEST_CASE("a run from any accepted numbers ends with its rows or with an error",
          "[actors][position]") {
  Random random(kSeed);
  std::size_t accepted = 0;
  for (const CountedJob::Shape& shape : shapes()) {
    CountedJob job(shape);
    const auto positions = some_positions(job);
    for (int i = 0; i < 1500; ++i) {
      Position other = positions[random.below(positions.size())];
      for (std::uint32_t left = 1 + random.below(4); left > 0; --left) {
        const Number& number = kNumbers[random.below(kNumbers.size())];
        // A value from another position is more likely to be accepted.
        const Position& from = positions[random.below(positions.size())];
        other.*number.member =
            random.below(2) == 0 ? from.*number.member : another(other.*number.member, random);
      }
      if (random.below(4) == 0) mutate_ahead(other, random);
      const auto found = checked(job, other, 1 + random.below(2));
      if (!found) continue;
      ++accepted;
      CAPTURE(kSeed, i);
      const auto ended = job.run(*found, random.next());
      REQUIRE((ended.finished || !ended.status));
      if (!ended.status) REQUIRE(ended.status.error().code == Code::kCorrupt);
    }
  }
  CHECK(accepted > 100);
}

TEST_CASE("a refusal names the wrong number and the right one", "[actors][position]") {
  CountedJob job({});
  const auto positions = job.run({}, kSeed).positions;
  Position position = positions[3];
  REQUIRE(position.split_rows > 0);
  const char* key = "";
  SECTION("more rows of a split than it has") {
    position.split_rows = 1000;
    key = "split_rows is 1000, but split ";
  }
  SECTION("fewer rows of a split than were given out") {
    --position.split_rows;
    key = "rows is 200, but the splits up to this position have 199 rows, in its epoch";
  }
  SECTION("an epoch later") {
    ++position.epoch;
    key = "rows is 200, but 1 whole epochs";
  }
  SECTION("more epochs than any job has") {
    position.epoch = 2'000'000'000;
    key = "epoch is 2000000000, but no job has so many";
  }
  SECTION("more damaged rows than rows") {
    position.bad_rows = ~std::uint64_t{0};
    key = "bad_rows is 18446744073709551615, but the dataset has 1101 rows";
  }
  SECTION("more rows held out than are left") {
    position.bad_rows = 101;
    position.held_out = 1001;
    key = "held_out is 1001, but the dataset has 1101 rows";
  }
  SECTION("a split number past the end of the epoch") {
    position.split = job.order().num_splits();
    key = "split is 34, but an epoch has 34 splits";
  }
  SECTION("another split that is begun") {
    ++position.open_split;
    key = "open_split is ";
  }
  SECTION("another number of batches") {
    position.batches = 5;
    key = "batches is 5, but 200 rows are 4";
  }
  SECTION("held-out rows in a job that holds out none") {
    position.held_out = 1;
    key = "held_out is 1, but the job holds out no rows";
  }
  SECTION("splits ahead in exact order") {
    position.ahead = {1};
    key = "ahead is 1 splits long";
  }
  SECTION("no digest") {
    position.digest = {};
    key = "digest is 0000";
  }
  SECTION("a split left out") {
    position.left_out = 1;
    key = "left_out is 1, but it is 0 by the other numbers";
  }
  const auto refused = checked(job, position, 2);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK_THAT(refused.error().message, Catch::Contains(key));
  CHECK_THAT(refused.error().message, Catch::EndsWith("resume from another state, or start anew"));
}

TEST_CASE("of an epoch no more rows are given out than the first one counted as sound, in batches",
          "[actors][position]") {
  CountedJob job({.damages = true, .holds_out = true});
  const auto positions = job.run({}, kSeed).positions;
  Position position = positions[positions.size() - 4];
  REQUIRE(position.epoch == 1);
  // 1101 rows less 69 damaged and 76 held out; 900 of 956 were given out so far, 2 x 50 short.
  REQUIRE(position.rows - 956 == 900);
  REQUIRE(position.left_out > 100);
  std::string key;
  SECTION("more than there are") {
    position.rows += 100;
    position.left_out -= 100;
    position.batches += 2;
    key = "rows is 1956, but 1 whole epochs and a part of one are meant, each of 956 rows";
  }
  SECTION("more left out than were counted") {
    position.rows -= 100;
    position.left_out += 100;
    position.batches -= 2;
    key = "where 145 are counted";
  }
  SECTION("part of a batch") {
    ++position.rows;
    --position.left_out;
    key = "rows is 1857, but 901 in an epoch are no whole batches of 50";
  }
  const auto refused = checked(job, position, 2);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains(key));
}

TEST_CASE("splits given out early are above the lowest, each once, and not the one begun",
          "[actors][position]") {
  CountedJob job({.mode = Mode::kArrival});
  const auto positions = job.run({}, kSeed).positions;
  const auto found = std::find_if(positions.begin(), positions.end(), [](const Position& at) {
    return at.ahead.size() > 1 && at.split_rows > 0 && at.open_split > at.split;
  });
  REQUIRE(found != positions.end());
  Position position = *found;
  SECTION("twice") { position.ahead[1] = position.ahead[0]; }
  SECTION("the lowest itself") { position.ahead[0] = 0; }
  SECTION("past the end") { position.ahead.back() = 34; }
  SECTION("the one begun") {
    position.ahead.push_back(static_cast<std::uint32_t>(position.open_split - position.split));
    std::sort(position.ahead.begin(), position.ahead.end());
  }
  CHECK_FALSE(checked(job, position, 1));
  CHECK(checked(job, *found, 1));
}

}  // namespace forebay
