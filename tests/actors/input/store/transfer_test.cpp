#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/store/transfer/fetch.h"
#include "actors/input/store/transfer/pace.h"
#include "actors/input/store/transfer/range_plan.h"
#include "actors/input/store/transfer/store_error.h"
#include "actors/input/store/transfer/transfer_loop.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

using Span = std::pair<std::uint64_t, std::uint64_t>;  // offset and bytes

std::vector<Span> planned(const std::vector<Span>& wanted, std::uint64_t part, std::uint64_t gap) {
  std::vector<Wanted> pieces;
  pieces.reserve(wanted.size());
  for (const auto& [offset, bytes] : wanted) pieces.push_back({.offset = offset, .bytes = bytes});
  std::vector<Span> ranges;
  for (const PlannedRange& range : plan_ranges(pieces, {.part_bytes = part, .gap_bytes = gap})) {
    ranges.emplace_back(range.offset, range.bytes);
  }
  return ranges;
}

TEST_CASE("a turn whose time is over does not wait", "[actors][store]") {
  const SystemClock clock;
  TransferLoop loop({}, clock);
  loop.turn(-5ms);
  SUCCEED("a wait without an end would hang here");
}

TEST_CASE("neighbours are one request, and a gap as dear as a request is read over",
          "[actors][store]") {
  CHECK(planned({{0, 10}, {10, 5}}, 100, 0) == std::vector<Span>{{0, 15}});
  CHECK(planned({{20, 10}, {0, 10}}, 100, 10) == std::vector<Span>{{0, 30}});
  CHECK(planned({{0, 10}, {21, 10}}, 100, 10) == std::vector<Span>{{0, 10}, {21, 10}});
  CHECK(planned({{5, 0}}, 100, 10).empty());
}

TEST_CASE("requests are cut at the size of a part", "[actors][store]") {
  // 250 wanted bytes of three neighbours: parts of 100, 100 and 50.
  CHECK(planned({{0, 90}, {90, 60}, {150, 100}}, 100, 0) ==
        std::vector<Span>{{0, 100}, {100, 100}, {200, 50}});
  // A gap at the end of a part is not read.
  CHECK(planned({{0, 95}, {105, 10}}, 100, 20) == std::vector<Span>{{0, 95}, {105, 10}});
}

TEST_CASE("a gap is read over while that is as fast and as cheap as another request",
          "[actors][store]") {
  StorageSpec storage;
  // 32 MiB come while a request waits; with 64 in flight one takes as long as half a MiB.
  CHECK(rule_for(storage).gap_bytes == 512 << 10);
  storage.connections = 256;
  CHECK(rule_for(storage).gap_bytes == 128 << 10);
  storage.connections = 1;
  CHECK(rule_for(storage).gap_bytes == rule_for(storage).part_bytes);
  // $0.4 for a million requests and $0.02 for 10⁹ bytes: 0.4e-6 / 0.02e-9 = 20,000 bytes.
  storage = {};
  storage.request_price = 0.0004;
  storage.byte_price = 0.02;
  CHECK(rule_for(storage).gap_bytes == 20'000);
  storage.request_price = 0;
  CHECK(rule_for(storage).gap_bytes == 0);
  // Bytes that are nearly free do not make gaps larger than what is as fast.
  storage.request_price = 0.0004;
  storage.byte_price = 1e-6;
  CHECK(rule_for(storage).gap_bytes == 512 << 10);
}

TEST_CASE("bytes that two reads want are asked for twice", "[actors][store]") {
  CHECK(planned({{0, 10}, {5, 10}}, 100, 0) == std::vector<Span>{{0, 10}, {5, 10}});
  // Two reads of the same three columns, as of two epochs: each is one request.
  CHECK(planned({{0, 10}, {20, 10}, {40, 10}, {0, 10}, {20, 10}, {40, 10}}, 100, 10) ==
        std::vector<Span>{{0, 50}, {0, 50}});
  CHECK(planned({{0, 10}, {0, 10}, {10, 10}, {40, 10}}, 100, 10) ==
        std::vector<Span>{{0, 20}, {0, 10}, {40, 10}});
}

TEST_CASE("whatever is wanted is in requests that fit, each byte as often as it is wanted",
          "[actors][store]") {
  constexpr std::uint64_t kSeed = 5;
  constexpr RangeRule kRule{.part_bytes = 50, .gap_bytes = 7};
  INFO("seed " << kSeed);
  Random random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Wanted> wanted(random.below(12));
    std::vector<int> times(400);
    for (Wanted& piece : wanted) {
      piece = {.offset = random.below(200), .bytes = random.below(round % 5 == 0 ? 150 : 20)};
      for (std::uint64_t at = piece.offset; at < piece.end(); ++at) ++times[at];
    }
    for (const PlannedRange& range : plan_ranges(wanted, kRule)) {
      REQUIRE(range.bytes <= kRule.part_bytes);
      std::uint64_t end = range.offset;
      for (const Wanted& piece : range.wanted) {
        REQUIRE(piece.offset >= end);
        REQUIRE(piece.offset - end <= kRule.gap_bytes);
        end = piece.end();
        for (std::uint64_t at = piece.offset; at < end; ++at) --times[at];
      }
      REQUIRE(end == range.end());
    }
    REQUIRE(std::ranges::all_of(times, [](int left) { return left == 0; }));
  }
}

TEST_CASE("waits between attempts are random below a growing bound", "[actors][store]") {
  Random random(7);
  Backoff backoff;
  auto bound = std::chrono::nanoseconds(100ms);
  std::chrono::nanoseconds sum{0};
  for (int i = 0; i < 20; ++i) {
    const auto wait = backoff.next(random);
    CHECK(wait >= 0ms);
    CHECK(wait <= std::min<std::chrono::nanoseconds>(bound, 20s));
    bound *= i < 10 ? 2 : 1;
    sum += wait;
  }
  CHECK(sum > 20s);  // the last ten alone are about 100 s
}

TEST_CASE("the percentile is of the last waits", "[actors][store]") {
  HedgeRule rule;
  CHECK_FALSE(rule.allows(59min));
  for (int i = 1; i <= 100; ++i) rule.add_longest_wait(std::chrono::milliseconds(i));
  CHECK(rule.percentile() >= 90ms);
  CHECK(rule.percentile() <= 95ms);
  for (int i = 0; i < 300; ++i) rule.add_longest_wait(1s);
  CHECK(rule.percentile() == 1s);
}

TEST_CASE("hedges are at most 5 % of all requests and a few at the start", "[actors][store]") {
  HedgeRule rule;
  for (int i = 0; i < 20; ++i) rule.add_longest_wait(10ms);
  CHECK_FALSE(rule.allows(10ms));
  int hedges = 0;
  for (int i = 0; i < 1000; ++i) {
    rule.add_request();
    if (rule.allows(1s)) {
      rule.spend();
      ++hedges;
    }
  }
  // 4 to begin with, and 1000 / 20.
  CHECK(hedges >= 52);
  CHECK(hedges <= 54);
}

TEST_CASE("half of the hedges are kept for much longer waits", "[actors][store]") {
  HedgeRule rule;
  for (int i = 0; i < 20; ++i) rule.add_longest_wait(10ms);
  CHECK(rule.allows(11ms));
  rule.spend();
  CHECK_FALSE(rule.allows(39ms));
  CHECK(rule.allows(41ms));
}

std::unique_ptr<Fetch> fetch_of(PlannedRange range, StoredVersion version) {
  auto target = std::make_shared<Target>();
  target->path = "s3://b/k";
  std::optional<RangeOf> wanted;
  wanted.emplace();
  wanted->range = std::move(range);
  wanted->version = std::move(version);
  return std::make_unique<Fetch>(std::move(target), "GET", std::move(wanted));
}

/// A fetch of bytes 10 to 29, of which 10 to 14 and 20 to 29 are wanted.
struct OneRange {
  std::string first = std::string(5, '?');
  std::string second = std::string(10, '?');
  std::unique_ptr<Fetch> made =
      fetch_of({.offset = 10,
                .bytes = 20,
                .wanted = {{.offset = 10, .bytes = 5, .out = first.data()},
                           {.offset = 20, .bytes = 10, .out = second.data()}}},
               {.bytes = 100, .etag = "\"v\"", .last_modified = ""});
  Fetch& fetch = *made;

  Fetch::Attempt attempt(int status, const std::string& range, const std::string& etag = "\"v\"") {
    Fetch::Attempt begun = fetch.begin(0s);
    begun.head.status = status;
    begun.head.content_range = parse_content_range(range);
    begun.head.etag = etag;
    return begun;
  }
};

const std::string kContent = "aaaaaaaaaabbbbbcccccddddddddddeeeeeeeeee";  // from byte 0

TEST_CASE("the bytes of a range go where they are wanted, and gaps nowhere", "[actors][store]") {
  OneRange one;
  auto attempt = one.attempt(206, "bytes 10-29/100");
  for (std::size_t i = 10; i < 30; i += 4) {
    CHECK_FALSE(one.fetch.is_full());
    CHECK(one.fetch.take(attempt,
                         std::string_view(kContent).substr(i, std::min<std::size_t>(4, 30 - i))));
  }
  CHECK(one.fetch.is_full());
  CHECK(one.first == "bbbbb");
  CHECK(one.second == "dddddddddd");
}

TEST_CASE("a second attempt asks for what is missing, and both may go on", "[actors][store]") {
  OneRange one;
  auto first = one.attempt(206, "bytes 10-29/100");
  CHECK(one.fetch.take(first, std::string_view(kContent).substr(10, 7)));
  auto second = one.attempt(206, "bytes 17-29/100");
  CHECK(one.fetch.headers(second) == Headers{{"range", "bytes=17-29"}, {"if-match", "\"v\""}});
  CHECK(one.fetch.take(second, std::string_view(kContent).substr(17, 6)));
  CHECK(one.fetch.take(first, std::string_view(kContent).substr(17, 3)));
  CHECK(one.fetch.filled() == 13);
  CHECK(one.fetch.take(first, std::string_view(kContent).substr(20, 10)));
  CHECK(one.fetch.is_full());
  CHECK(one.first == "bbbbb");
  CHECK(one.second == "dddddddddd");
}

TEST_CASE("a whole file instead of a range is read up to the range's end", "[actors][store]") {
  OneRange one;
  auto attempt = one.attempt(200, "");
  attempt.head.content_length = 100;
  CHECK(one.fetch.take(attempt, std::string_view(kContent).substr(0, 12)));
  CHECK_FALSE(one.fetch.take(attempt, std::string_view(kContent).substr(12)));
  CHECK(one.fetch.is_full());
  CHECK(one.second == "dddddddddd");
}

TEST_CASE("an answer of another version, size or place is not taken", "[actors][store]") {
  OneRange one;
  const auto refused = [&one](Fetch::Attempt attempt) {
    CHECK_FALSE(one.fetch.take(attempt, std::string_view("xxxxx")));
    REQUIRE(attempt.error);
    CHECK(one.first == "?????");
    return attempt.error->message;
  };
  const std::string changed = "s3://b/k changed since it was indexed; run again";
  CHECK(refused(one.attempt(206, "bytes 10-29/100", "\"w\"")) == changed);
  CHECK(refused(one.attempt(206, "bytes 10-29/101")) == changed);
  CHECK(refused(one.attempt(206, "bytes 11-29/100")).find("other bytes") != std::string::npos);
  CHECK(refused(one.attempt(206, "bytes 10-30/100")).find("other bytes") != std::string::npos);
  CHECK(refused(one.attempt(206, "")).find("other bytes") != std::string::npos);
}

TEST_CASE("a version without a strong ETag is held by its time", "[actors][store]") {
  const auto weak = fetch_of({.offset = 0, .bytes = 4, .wanted = {}},
                             {.bytes = 9, .etag = "W/\"v\"", .last_modified = "then"});
  CHECK(weak->headers(weak->begin(0s)) ==
        Headers{{"range", "bytes=0-3"}, {"if-unmodified-since", "then"}});
}

Error refused_with(int status, const std::string& body, const std::string& region = "r") {
  ResponseHead head;
  head.status = status;
  return refusal_error({.path = "s3://b/k", .url = {}, .region = region}, head, body);
}

TEST_CASE("refusals say what is wrong and what to do", "[actors][store]") {
  const auto coded = [](const std::string& code) {
    return "<Error><Code>" + code + "</Code></Error>";
  };
  const Error bucket = refused_with(404, coded("NoSuchBucket"));
  CHECK(bucket.code == Code::kNotFound);
  CHECK(bucket.message.starts_with("s3://b does not exist"));
  const Error key = refused_with(404, coded("NoSuchKey"));
  CHECK(key.code == Code::kNotFound);
  CHECK(key.message.starts_with("s3://b/k does not exist"));
  const Error denied = refused_with(403, coded("AccessDenied"));
  CHECK(denied.code == Code::kInvalid);
  CHECK(denied.message ==
        "s3://b/k cannot be read: the store says HTTP 403 AccessDenied; check "
        "what these credentials may read");
  const Error region =
      refused_with(301, "<Error><Code>PermanentRedirect</Code><Region>eu</Region></Error>");
  CHECK(region.message == "s3://b is in region eu, not in r; set storage.region = \"eu\"");
  const Error clock = refused_with(
      403, "<Error><Code>RequestTimeTooSkewed</Code><ServerTime>noon</ServerTime></Error>");
  CHECK(clock.message.find("clock and the store's differ (the store's is noon)") !=
        std::string::npos);
  CHECK(refused_with(403, coded("SignatureDoesNotMatch")).message.find("check the credentials") !=
        std::string::npos);
}

TEST_CASE("an unknown access key is no missing file, whatever the status", "[actors][store]") {
  const std::string body = "<Error><Code>XAdminUserNotFound</Code></Error>";  // as versitygw does
  const Error unknown = refused_with(404, body);
  CHECK(unknown.code == Code::kInvalid);
  CHECK(unknown.message.find("check the credentials") != std::string::npos);
  ResponseHead head;
  head.status = 404;
  const Target target{.path = "s3://b/k", .url = {}, .region = "r"};
  CHECK(range_refusal_error(target, head, body).message == unknown.message);
  CHECK(range_refusal_error(target, head, "").code == Code::kCorrupt);
}

TEST_CASE("only what may pass is asked for again", "[actors][store]") {
  const auto again = [](int status, const std::string& body = "") {
    ResponseHead head;
    head.status = status;
    return is_worth_repeating(head, body);
  };
  for (const int status : {408, 429, 500, 502, 503, 504}) CHECK(again(status));
  for (const int status : {301, 400, 401, 403, 404, 412, 416, 501}) CHECK_FALSE(again(status));
  CHECK(again(400, "<Error><Code>RequestTimeout</Code></Error>"));
}

}  // namespace
}  // namespace forebay
