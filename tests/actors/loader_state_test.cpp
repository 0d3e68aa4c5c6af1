#include "actors/loader_state.h"

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

}  // namespace

TEST_CASE("a loader state is read as it was written", "[actors][loader_state]") {
  const LoaderState state = some_state();
  auto again = parse(to_json(state));
  REQUIRE(again);
  CHECK(*again == state);
  CHECK(to_json(state).find("\"32-34,40,42-43\"") != std::string::npos);
  CHECK(parse(to_json(LoaderState())).value() == LoaderState());
}

TEST_CASE("a loader state is below 1 KB", "[actors][loader_state]") {
  LoaderState state = some_state();
  for (const char* key : {"shuffle", "transforms", "columns", "evaluate_share", "drop_last"}) {
    state.identity[key] = "0123456789abcdef0123456789abcdef";
  }
  CHECK(to_json(state).size() < 1024);
}

TEST_CASE("a damaged loader state is refused by the name of its file", "[actors][loader_state]") {
  const std::string good = to_json(some_state());
  const std::string bad = GENERATE_COPY(
      std::string(), std::string("{}"), std::string("[1]"), good.substr(0, good.size() / 2),
      replaced(good, "\"version\":1", "\"version\":2"),
      replaced(good, "\"version\":1", "\"version\":\"1\""),
      replaced(good, "\"version\":1",
               "\"version\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']')),
      replaced(good, "\"epoch\":1", "\"epoch\":-1"), replaced(good, "\"epoch\"", "\"Epoch\""),
      replaced(good, "\"epoch\":1", "\"epoch\":1,\"x\":1"), replaced(good, "32-34", "34-32"),
      replaced(good, "32-34", "0-4294967295"), replaced(good, "42-43", "42-"),
      replaced(good, ",42-43", ","), replaced(good, "\"8192\"", "8192"));
  auto refused = parse(bad);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kCorrupt);
  CHECK(refused.error().message.starts_with("state: "));
}

TEST_CASE("a resume into another job is refused with what differs", "[actors][loader_state]") {
  const LoaderState saved = some_state();
  LoaderState now = saved;
  now.position = {};
  CHECK(check_same_job(saved, now));

  SECTION("a value") {
    now.identity["batch_size"] = std::string("4096");
    CHECK(check_same_job(saved, now).error().message ==
          "resume refused: batch_size was 8192, is 4096");
  }
  SECTION("a key that is gone and one that came") {
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
