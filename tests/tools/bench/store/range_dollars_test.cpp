#include "tools/bench/store/range_dollars.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kPart = 1000;

// Three chunks of 10 bytes with gaps of 20 and 50 between them.
const std::vector<Wanted> kChunks = {
    {.offset = 100, .bytes = 10}, {.offset = 130, .bytes = 10}, {.offset = 190, .bytes = 10}};

TEST_CASE("the cheapest way reads a gap along where it costs less than a request",
          "[tools][bench]") {
  // A request costs as much as 30 bytes. With the gap of 20: 2 requests and 50 bytes, 110. Without
  // any: 3 and 30, 120. With both: 1 and 100, 130.
  const Fetching best = cheapest_fetching(kChunks, {.request = 30, .byte = 1}, kPart);
  CHECK(best.requests == 2);
  CHECK(best.bytes == 50);
  CHECK(best.dollars({.request = 30, .byte = 1}) == 110);
}

TEST_CASE("free bytes are all read along, and free requests read none", "[tools][bench]") {
  const Fetching few = cheapest_fetching(kChunks, {.request = 1, .byte = 0}, kPart);
  CHECK(few.requests == 1);
  CHECK(few.bytes == 100);
  const Fetching exact = cheapest_fetching(kChunks, {.request = 0, .byte = 1}, kPart);
  CHECK(exact.requests == 3);
  CHECK(exact.bytes == 30);
}

TEST_CASE("a request is not larger than a part", "[tools][bench]") {
  // In parts of 45 bytes 100 bytes take three requests, as many as the chunks alone; the first two
  // chunks fit into one part with their gap.
  const Fetching best = cheapest_fetching(kChunks, {.request = 1, .byte = 0}, 45);
  CHECK(best.requests == 2);
  CHECK(best.bytes == 50);
  // A chunk of 100 bytes takes three parts in any way.
  CHECK(cheapest_fetching({{.offset = 0, .bytes = 100}}, {.request = 1, .byte = 1}, 45).requests ==
        3);
}

TEST_CASE("the rule of even prices is as cheap as the cheapest way", "[tools][bench]") {
  const StorePrices prices{.request = 30, .byte = 1};
  const auto dollars = [&prices](std::uint64_t gap) {
    return fetching_by(kChunks, {.part_bytes = kPart, .gap_bytes = gap}).dollars(prices);
  };
  CHECK(dollars(30) == cheapest_fetching(kChunks, prices, kPart).dollars(prices));
  CHECK(dollars(0) == 120);   // three requests, 30 bytes
  CHECK(dollars(50) == 130);  // one request, 100 bytes
}

TEST_CASE("nothing wanted costs nothing", "[tools][bench]") {
  CHECK(cheapest_fetching({}, {.request = 1, .byte = 1}, kPart).requests == 0);
}

}  // namespace
}  // namespace forebay
