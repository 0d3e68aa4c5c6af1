#include "tools/doctor/store_checks.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/stub_store.h"
#include "tools/doctor/store_probe.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::StubStore;
using namespace std::chrono_literals;

/// A store that brings 1 MiB parts 64 at a time, 60 ms after each request: 1,118 MB/s at most.
StoreAnswers answers_of_far_store() {
  StoreAnswers answers;
  answers.path = answers.object = "s3://clicks/a.parquet";
  answers.endpoint = "http://127.0.0.1:9000";
  answers.region = "us-east-1";
  answers.credentials = "env";
  answers.connections = 64;
  answers.was_listed = true;
  answers.listed = 3;
  answers.object_bytes = 100 << 20;
  answers.answers_ranges = answers.has_etag = answers.honours_if_match = true;
  answers.clock_ahead = 0;
  answers.first_answer = 180ms;
  answers.first_bytes.assign(31, 60ms);
  answers.first_bytes.push_back(120ms);
  answers.in_flight = 64;
  answers.burst_bytes = 128 << 20;
  answers.burst_time = 125ms;  // 1,074 MB/s
  return answers;
}

Finding finding(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& one : findings) {
    if (one.name == name) return one;
  }
  FAIL("no finding is named " << name);
  return {};
}

StoreAnswers probe(const StubStore& store, const std::string& path, std::size_t in_flight = 4) {
  StorageSpec storage;
  storage.endpoint = store.server().address();
  const ProbeLimits limits{.small_requests = 8,
                           .part_bytes = 1 << 16,
                           .most_in_flight = in_flight,
                           .most_time = 1h,
                           .patience = 1h};
  return probe_store(path, storage, StubStore::environment(), limits, {});
}

}  // namespace

TEST_CASE("a store that is fast enough is described in lines that are all ok", "[tools][doctor]") {
  const auto findings = judge_store(answers_of_far_store(), 2);
  CHECK(findings.size() == 6);
  for (const Finding& one : findings) CHECK(one.verdict == Finding::Verdict::kOk);
  CHECK(finding(findings, "store").what ==
        "s3://clicks/a.parquet at http://127.0.0.1:9000, region us-east-1, credentials: env");
  CHECK(finding(findings, "list").what == "3 objects begin as the path does");
  CHECK(finding(findings, "clock").what == "the store's is the same");
  CHECK(finding(findings, "first byte").what ==
        "after 60 ms (median), 120 ms (p99) of 32 requests; a new connection answered after 180 "
        "ms");
  // 1,000 MB/s are 954 parts of 1 MiB a second, each 60 ms under way.
  CHECK(finding(findings, "speed").what ==
        "1074 MB/s with 64 requests in flight (128 MiB); 2 CPUs decode up to 1000 MB/s, for which "
        "58 requests of 1 MiB are needed in flight");
}

TEST_CASE("a pipeline that wants more than its requests can bring is told how many would do",
          "[tools][doctor]") {
  const auto speed = finding(judge_store(answers_of_far_store(), 8), "speed");
  CHECK(speed.verdict == Finding::Verdict::kWarn);
  CHECK(speed.advice.starts_with("set storage.connections = 229 "));
}

TEST_CASE("a slow network is not blamed on the number of connections", "[tools][doctor]") {
  StoreAnswers answers = answers_of_far_store();
  answers.burst_time = 400ms;  // 336 MB/s
  auto speed = finding(judge_store(answers, 2), "speed");
  CHECK(speed.verdict == Finding::Verdict::kOk);
  CHECK(speed.what.ends_with("; the network or the store bounds it"));
  answers.burst_time = 220ms;  // 610 MB/s: near what 64 requests can bring, and 58 would do
  speed = finding(judge_store(answers, 2), "speed");
  CHECK(speed.verdict == Finding::Verdict::kOk);
  answers.burst_time = 2s;  // 67 MB/s
  speed = finding(judge_store(answers, 2), "speed");
  CHECK(speed.verdict == Finding::Verdict::kWarn);
  CHECK(speed.advice.find("read fewer bytes") != std::string::npos);
}

TEST_CASE("small objects are no measure of speed, and many of them are warned about",
          "[tools][doctor]") {
  StoreAnswers answers = answers_of_far_store();
  answers.object_bytes = 1000;
  CHECK(finding(judge_store(answers, 2), "speed").verdict == Finding::Verdict::kOk);
  answers.path = "s3://clicks/*";
  const auto speed = finding(judge_store(answers, 2), "speed");
  CHECK(speed.verdict == Finding::Verdict::kWarn);
  CHECK(speed.what == "not measured, since s3://clicks/a.parquet has only 1000 B");
}

TEST_CASE("what a store lacks or does late is warned about", "[tools][doctor]") {
  StoreAnswers answers = answers_of_far_store();
  answers.version_doubt = "gives no ETag: ...";
  answers.clock_ahead = -3600;
  answers.first_bytes.assign(32, 700ms);
  answers.list_refused = Error{Code::kInvalid, "s3://clicks: HTTP 403 AccessDenied"};
  const auto findings = judge_store(answers, 2);
  for (const char* name : {"list", "ranges", "clock", "first byte"}) {
    CHECK(finding(findings, name).verdict == Finding::Verdict::kWarn);
  }
  CHECK(finding(findings, "clock").what == "the store's is 3,600 s behind");
  answers.answers_ranges = false;
  CHECK(finding(judge_store(answers, 2), "ranges").verdict == Finding::Verdict::kBad);
  answers.refused = Error{Code::kNotFound, "s3://clicks does not exist"};
  REQUIRE(judge_store(answers, 2).size() == 1);
  CHECK(judge_store(answers, 2)[0].verdict == Finding::Verdict::kBad);
}

TEST_CASE("percentiles of times are by nearest rank", "[tools][doctor]") {
  StoreAnswers answers;
  CHECK(answers.first_byte(0.5) == 0ms);
  answers.first_bytes = {1ms, 2ms, 3ms, 4ms};
  CHECK(answers.first_byte(0.5) == 2ms);
  CHECK(answers.first_byte(0.99) == 4ms);
  CHECK(answers.first_byte(0) == 1ms);
}

TEST_CASE("a Date header is read as seconds since 1970", "[tools][doctor]") {
  CHECK(parse_http_date("Thu, 01 Jan 1970 00:01:00 GMT") == 60);
  CHECK_FALSE(parse_http_date("Thu, 01 Jan 1970 00:01:00 CET"));
  CHECK_FALSE(parse_http_date(""));
}

TEST_CASE("a probe finds the largest object of a bucket and keeps to its limits",
          "[tools][doctor]") {
  StubStore store;
  store.write("a/small", std::string(10, 'x'));
  store.write("a/large", std::string(1 << 20, 'x'));
  const StoreAnswers answers = probe(store, "s3://bucket/a/*");
  INFO((answers.refused ? answers.refused->message : ""));
  CHECK_FALSE(answers.refused);
  CHECK(answers.object == "s3://bucket/a/large");
  CHECK(answers.object_bytes == 1 << 20);
  CHECK(answers.listed == 2);
  CHECK((answers.answers_ranges && answers.has_etag && answers.honours_if_match));
  CHECK(answers.first_bytes.size() == 8);
  CHECK(answers.in_flight == 4);
  CHECK(answers.burst_bytes < 8 << 16);
  CHECK(answers.requests == 1 + 1 + 2 + 8 + 8);  // list, HEAD, a byte twice, small ones, parts
  CHECK(std::abs(answers.clock_ahead.value_or(100)) < 60);
  CHECK(to_json(answers).text().find("\"may_list\":true") != std::string::npos);
}

TEST_CASE("a probe reads a small object again and again", "[tools][doctor]") {
  StubStore store;
  const StoreAnswers answers = probe(store, store.write("k", std::string(1000, 'x')));
  CHECK_FALSE(answers.refused);
  CHECK(answers.requests == 1 + 1 + 2 + 8 + 8);
  CHECK(answers.burst_bytes <= 7 * 1000);
}

TEST_CASE("a probe of a web server asks for the file alone", "[tools][doctor]") {
  StubStore store;
  store.server().change([](StubOptions& options) { options.access_key = ""; });
  store.write("k", std::string(1000, 'x'));
  const StoreAnswers answers = probe(store, store.address("k"));
  INFO((answers.refused ? answers.refused->message : ""));
  CHECK_FALSE(answers.refused);
  CHECK_FALSE(answers.was_listed);
  CHECK(answers.answers_ranges);
  CHECK(answers.endpoint == store.server().address());
}

TEST_CASE("a probe tells what a server lacks", "[tools][doctor]") {
  StubStore store;
  const std::string path = store.write("k", std::string(1000, 'x'));
  store.server().change([](StubOptions& options) { options.without_etag = true; });
  StoreAnswers answers = probe(store, path);
  CHECK_FALSE(answers.has_etag);
  CHECK(answers.version_doubt.starts_with("gives no ETag"));
  CHECK(answers.in_flight == 4);
  store.server().change([](StubOptions& options) {
    options.without_etag = false;
    options.weak_etag = true;
  });
  const Finding weak = finding(judge_store(probe(store, path), 2), "ranges");
  CHECK(weak.verdict == Finding::Verdict::kWarn);
  CHECK(weak.what.find("gives weak ETags") != std::string::npos);
  store.server().change([](StubOptions& options) {
    options.weak_etag = false;
    options.ignore_if_match = true;
  });
  answers = probe(store, path);
  CHECK((answers.has_etag && !answers.honours_if_match));
  CHECK(finding(judge_store(answers, 2), "ranges").what.find("ignores If-Match") !=
        std::string::npos);
  store.server().change([](StubOptions& options) { options.ignore_ranges = true; });
  answers = probe(store, path);
  CHECK_FALSE(answers.refused);
  CHECK_FALSE(answers.answers_ranges);
  CHECK(answers.first_bytes.empty());
}

TEST_CASE("a probe says why a store cannot be read", "[tools][doctor]") {
  StubStore store;
  const std::string path = store.write("k", std::string(1000, 'x'));
  const auto why = [&store](const std::string& asked) {
    const StoreAnswers answers = probe(store, asked);
    return answers.refused ? answers.refused->message : "";
  };
  CHECK(why("s3://none/*").starts_with("s3://none does not exist"));
  CHECK(why("s3://bucket/none").starts_with("s3://bucket/none does not exist"));
  store.server().change([](StubOptions& options) { options.cut_listings = true; });
  CHECK(why("s3://bucket/*") == "s3://bucket/*: its listing is cut off or is not XML");
  CHECK(why(path).empty());
  store.server().change([](StubOptions& options) { options.clock_ahead = 3600; });
  CHECK(why(path).find("this machine's clock and the store's differ") != std::string::npos);
  store.server().change([](StubOptions& options) { options.secret = "another"; });
  CHECK_FALSE(why(path).empty());
}

TEST_CASE("a probe without credentials names the variable and asks nothing", "[tools][doctor]") {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  const StoreAnswers answers = probe_store("s3://bucket/k", {}, nothing, {}, {});
  REQUIRE(answers.refused);
  CHECK(answers.refused->message.find("AWS_ACCESS_KEY_ID") != std::string::npos);
  CHECK(answers.requests == 0);
}

TEST_CASE("a probe that is stopped ends early and blames nothing", "[tools][doctor]") {
  StubStore store;
  StorageSpec storage;
  storage.endpoint = store.server().address();
  store.server().change([](StubOptions& options) { options.latency = 3600; });
  const StoreAnswers answers =
      probe_store("s3://bucket/k", storage, StubStore::environment(), {}, [] { return true; });
  CHECK_FALSE(answers.refused);
  CHECK(answers.first_bytes.empty());
}

TEST_CASE("an empty bucket and an empty object are warned about", "[tools][doctor]") {
  StubStore store;
  StoreAnswers answers = probe(store, "s3://bucket/x/*");
  CHECK(finding(judge_store(answers, 2), "object").what ==
        "no object begins as s3://bucket/x/* does");
  answers = probe(store, store.write("k", ""));
  CHECK(finding(judge_store(answers, 2), "object").what == "s3://bucket/k is empty");
}

}  // namespace forebay
