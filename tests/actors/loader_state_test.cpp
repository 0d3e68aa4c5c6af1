#include "actors/loader_state.h"

#include <nlohmann/json.hpp>

#include "core/base/random.h"
#include "core/base/text/json_text.h"
#include "tests/support/loader_state_text.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

LoaderState some_state() {
  LoaderState state;
  state.position = {.epoch = 1,
                    .split = 30,
                    .split_rows = 17,
                    .open_split = 31,
                    .batches = 99,
                    .rows = ~std::uint64_t{0},
                    .bad_rows = 2,
                    .held_out = 5,
                    .left_out = 3,
                    .digest = Digest::of("x", 1),
                    .ahead = {32, 33, 34, 40, 42, 43}};
  state.fingerprint = "0123456789abcdef0123456789abcdef";
  state.identity = {{"batch_size", "8192"}, {"seed", "1"}};
  return state;
}

Result<LoaderState> parse(const std::string& text) { return parse_loader_state(text, "state"); }

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.substr(0, at) + by + text.substr(at + what.size());
}

/// Adds the checksum of the other values, computed by the rule of the README, not by the code.
std::string with_checksum(nlohmann::json object) {
  object.erase("checksum");
  const std::string text = object.dump();
  object["checksum"] = Digest::of(text.data(), text.size()).hex();
  return object.dump();
}

std::string mutated(std::string text, Random& random) {
  const std::size_t at = random.below(text.size());
  const char letter =
      static_cast<char>(random.below(3) == 0 ? '0' + random.below(10) : random.below(256));
  switch (random.below(4)) {
    case 0:
      text[at] = letter;
      break;
    case 1:
      text.insert(at, 1, letter);
      break;
    case 2:
      text.erase(at, 1 + random.below(3));
      break;
    default:
      text.insert(at, text.substr(random.below(text.size()), random.below(30)));
  }
  return text;
}

}  // namespace

TEST_CASE("a loader state is read as it was written", "[actors][loader_state]") {
  const LoaderState state = some_state();
  auto again = parse(to_json(state));
  REQUIRE(again);
  CHECK(*again == state);
  CHECK(to_json(state).find("\"32-34,40,42-43\"") != std::string::npos);
  CHECK(parse(to_json(LoaderState())).value() == LoaderState());
}

TEST_CASE("the state of a rank has no digest and no counts of rows left out",
          "[actors][loader_state]") {
  LoaderState state = some_state();
  state.position.sampled = 4;
  state.position.of_ranks = true;
  const auto object = nlohmann::json::parse(to_json(state));
  for (const char* key : {"digest", "bad_rows", "held_out", "left_out", "sampled"}) {
    CHECK_FALSE(object.contains(key));
  }
  auto again = parse(to_json(state));
  REQUIRE(again);
  CHECK(again->position.of_ranks);
  CHECK(again->position.rows == state.position.rows);
  CHECK(again->position.counted() == 0);
  CHECK(to_json(*again) == to_json(state));
  // One of them alone is a damaged state, not a rank's.
  auto half = object;
  half["bad_rows"] = 2;
  CHECK_FALSE(parse(with_checksum(half)));
}

TEST_CASE("rows sampled away are in a state if there are any", "[actors][loader_state]") {
  LoaderState state = some_state();
  CHECK(to_json(state).find("sampled") == std::string::npos);
  state.position.sampled = 4;
  CHECK(parse(to_json(state)).value() == state);
}

TEST_CASE("a loader state is below 1 KB", "[actors][loader_state]") {
  LoaderState state = some_state();
  for (const char* key : {"shuffle", "transforms", "columns", "evaluate_share", "drop_last"}) {
    state.identity[key] = "0123456789abcdef0123456789abcdef";
  }
  CHECK(to_json(state).size() < 1024);
}

TEST_CASE("a loader state is one flat object of texts and whole numbers",
          "[actors][loader_state]") {
  const auto object = nlohmann::json::parse(to_json(some_state()));
  for (const auto& [key, value] : object.items()) {
    CHECK((value.is_string() || value.is_number_unsigned()));
  }
  CHECK(object["version"] == 2);
  CHECK(object["batch_size"] == "8192");
  CHECK(with_checksum(object) + "\n" == to_json(some_state()));
  // Any JSON writer may reformat the state.
  CHECK(parse(object.dump(3)).value() == some_state());
}

TEST_CASE("a damaged loader state is refused by the name of its file", "[actors][loader_state]") {
  const bool first = GENERATE(true, false);
  const std::string good = first ? test::version_1_text(some_state()) : to_json(some_state());
  const std::string version = first ? "\"version\":1" : "\"version\":2";
  const std::string bad = GENERATE_COPY(
      std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2),
      replaced(good, version, "\"version\":0"), replaced(good, version, "\"version\":-1"),
      replaced(good, version, "\"version\":\"1\""), replaced(good, version, "\"version\":1.0"),
      replaced(good, version, first ? "\"version\":2" : "\"version\":1"),
      replaced(good, version,
               "\"version\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']')),
      replaced(good, version, version + "," + version),
      good.substr(0, good.size() - 1) + std::string(64 << 10, ' '),
      replaced(good, "\"epoch\":1", "\"epoch\":-1"), replaced(good, "\"epoch\"", "\"Epoch\""),
      replaced(good, "\"epoch\":1", "\"epoch\":1,\"x\":1"), replaced(good, "32", "34"),
      replaced(good, "32", "0-4294967295"), replaced(good, ",42", ",42-"),
      replaced(good, ",40,", ","), replaced(good, "\"8192\"", "8192"));
  // Version 1 has no checksum: check_position() has to refuse another list of splits.
  if (first && bad == replaced(good, ",40,", ",")) return;
  auto refused = parse(bad);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message.starts_with("state: "));
  CHECK(refused.error().message.ends_with("start anew without it"));
}

TEST_CASE("a forged state is refused by its impossible key", "[actors][loader_state]") {
  auto object = nlohmann::json::parse(to_json(some_state()));
  std::string key;
  SECTION("a fraction") { object[key = "rows"] = 1.5; }
  SECTION("a negative number") { object[key = "split"] = -1; }
  SECTION("a number past 64 bits") { object[key = "batches"] = 1e30; }
  SECTION("a list") { object[key = "seed"] = {1, 2}; }
  SECTION("an object") { object[key = "digest"] = nlohmann::json::object(); }
  SECTION("a text for a number") { object[key = "left_out"] = "3"; }
  SECTION("a digest cut short") { object[key = "digest"] = "0123"; }
  SECTION("splits in descending order") { object[key = "ahead"] = "5,4"; }
  SECTION("the lowest split itself") { object[key = "ahead"] = "0-3"; }
  SECTION("nothing") { object[key = "fingerprint"] = nullptr; }
  SECTION("a missing key") { object.erase(key = "open_split"); }
  const auto refused = parse(with_checksum(object));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("state: a damaged loader state: \"" + key + "\" is "));
}

TEST_CASE("a state with a checksum and any changed byte is refused", "[actors][loader_state]") {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  const std::string good = to_json(some_state());
  for (int i = 0; i < 20'000; ++i) {
    const std::string bad = mutated(good, random);
    CAPTURE(kSeed, i, bad);
    const auto found = parse(bad);
    if (found) REQUIRE(*found == some_state());  // blanks, and digits written another way
  }
}

TEST_CASE("an older state with any changed byte is refused or is a state that a run can write",
          "[actors][loader_state]") {
  constexpr std::uint64_t kSeed = 8;
  Random random(kSeed);
  const std::string good = test::version_1_text(some_state());
  std::size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bad = mutated(good, random);
    CAPTURE(kSeed, i, bad);
    const auto found = parse(bad);
    if (!found) {
      REQUIRE(found.error().message.starts_with("state: "));
      continue;
    }
    ++taken;
    REQUIRE(found->version == 1);
    REQUIRE(parse(to_json(*found))->position == found->position);
  }
  CHECK(taken > 0);
}

TEST_CASE("a state of version 1 is read with a note that it has no checksum",
          "[actors][loader_state]") {
  LoaderState want = some_state();
  want.version = 1;
  want.position.left_out = 0;  // check_position() has to find it
  const auto read = parse(test::version_1_text(some_state()));
  REQUIRE(read);
  CHECK(*read == want);
  CHECK_THAT(note_of_version(*read, "state"),
             Catch::StartsWith("state: a loader state of version 1, which has no checksum"));
  CHECK(note_of_version(some_state(), "state").empty());
}

TEST_CASE("a state of a later version is refused by its number", "[actors][loader_state]") {
  auto object = nlohmann::json::parse(to_json(some_state()));
  object["version"] = 3;
  const auto refused = parse(with_checksum(object));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK_THAT(refused.error().message,
             Catch::StartsWith("state: a loader state of version 3; this program reads"));
}

TEST_CASE("a resume into another job is refused by the key that differs",
          "[actors][loader_state]") {
  const LoaderState saved = some_state();
  LoaderState now = saved;
  now.position = {};
  CHECK(check_same_job(saved, now));

  SECTION("a value") {
    now.identity["batch_size"] = std::string("4096");
    CHECK(check_same_job(saved, now).error().message ==
          "resume refused: batch_size was 8192, is 4096");
  }
  SECTION("one key removed and one added") {
    now.identity.erase("seed");
    now.identity["shuffle"] = std::string("file");
    CHECK(check_same_job(saved, now).error().message ==
          "resume refused: seed was 1, is not set; shuffle was not set, is file");
  }
  SECTION("the dataset") {
    now.fingerprint = std::string("f");
    CHECK(check_same_job(saved, now).error().message.find("dataset") != std::string::npos);
  }
}
