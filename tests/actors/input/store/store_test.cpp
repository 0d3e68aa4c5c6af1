#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/input/store/transfer/store_client.h"
#include "core/base/random.h"
#include "tests/support/stub_store.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::StubStore;
using namespace std::chrono_literals;

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string random_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  Random random(size);
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

std::unique_ptr<const InputFile> object_in(const StubStore& store, const std::string& path) {
  auto file = store.open(path);
  INFO((file ? "" : file.error().message));
  REQUIRE(file);
  return std::move(*file);
}

/// Reads `ranges` of a file in one read, and checks every byte.
void check_ranges(const InputFile& file, const std::string& content,
                  const std::vector<std::pair<std::uint64_t, std::size_t>>& ranges) {
  std::vector<std::string> got;
  for (const auto& range : ranges) got.emplace_back(range.second, '?');
  std::vector<ReadRange> reads;
  for (std::size_t i = 0; i < ranges.size(); ++i) reads.push_back({ranges[i].first, got[i]});
  const Status status = file.begin_read(reads)->wait();
  INFO((status ? "" : status.error().message));
  REQUIRE(status);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    CHECK(got[i] == content.substr(ranges[i].first, ranges[i].second));
  }
}

TEST_CASE("ranges of an object arrive, in few requests", "[actors][store]") {
  StubStore store;
  const std::string content = random_bytes(20 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  CHECK(file->is_remote());
  const std::uint64_t before = store.systems.counts()->requests();
  check_ranges(*file, content, {{0, 100}, {5000, 1}, {kMiB, 9 * kMiB}, {19 * kMiB, kMiB}, {7, 0}});
  // Bytes 0 to 5000; 9 MiB in two parts; the last MiB.
  CHECK(store.systems.counts()->requests() - before == 4);
  CHECK(store.systems.counts()->bytes() == 5001 + 10 * kMiB);
}

TEST_CASE("reads of neighbours that begin together share requests", "[actors][store]") {
  StubStore store;
  const std::string content = random_bytes(4 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  std::string out(4 * kMiB, '?');
  const std::uint64_t before = store.systems.counts()->requests();
  std::vector<std::unique_ptr<PendingRead>> reads;
  for (std::size_t i = 0; i < 64; ++i) {
    reads.push_back(file->begin_read({{i << 16, std::span(out).subspan(i << 16, 1 << 16)}}));
  }
  for (const auto& read : reads) REQUIRE(read->wait());
  CHECK(out == content);
  CHECK(store.systems.counts()->requests() - before <= 8);  // more only if this thread is halted
}

TEST_CASE("a read from start to end asks ahead in large parts", "[actors][store]") {
  StubStore store;
  const std::string content = random_bytes(40 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  file->will_read_through();
  std::string got;
  std::string piece(300'000, '?');
  while (true) {
    const auto size = file->read_at(got.size(), piece);
    REQUIRE(size);
    got.append(piece, 0, *size);
    if (*size < piece.size()) break;
  }
  CHECK(got == content);
  CHECK(store.systems.counts()->requests() <= 12);  // stat, first piece, 5 parts, end; 2 to spare
}

TEST_CASE("no more requests are in flight than there may be connections", "[actors][store]") {
  StubStore store([](StorageSpec& storage) { storage.connections = 3; });
  store.server().change([](StubOptions& options) { options.latency = 0.01; });
  const std::string content = random_bytes(12 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  std::vector<std::pair<std::uint64_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < 12; ++i) ranges.emplace_back(i * kMiB, 1000);
  check_ranges(*file, content, ranges);
  CHECK(store.server().most_in_flight() <= 3);
  CHECK(store.server().most_in_flight() >= 2);
}

TEST_CASE("a body that stalls is asked for a second time, from where it stopped",
          "[actors][store]") {
  // Nothing but the second request can end the wait.
  StubStore store([](StorageSpec& storage) { storage.timeout = 1h; });
  const std::string content = random_bytes(2 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  std::string out(1000, '?');
  for (std::uint64_t i = 0; i < 40; ++i) REQUIRE(file->read(i * 3000, out));
  const std::uint64_t before = store.systems.counts()->bytes();
  store.server().stall_next();
  check_ranges(*file, content, {{0, kMiB}});
  CHECK(store.systems.counts()->bytes() - before < kMiB + kMiB / 2);
}

TEST_CASE("a read that is given up writes nothing any more", "[actors][store]") {
  StubStore store;
  store.server().change([](StubOptions& options) { options.stalled_share = 1; });
  const auto file = object_in(store, store.write("k", random_bytes(kMiB)));
  std::string out(kMiB / 2, '?');
  file->begin_read({{0, out}}).reset();
  const std::string after = out;
  store.server().change([](StubOptions& options) { options.stalled_share = 0; });
  std::string other(10, '?');
  REQUIRE(file->read(100, other));
  CHECK(out == after);
}

TEST_CASE("faults of a store change no byte", "[actors][store]") {
  StubStore store([](StorageSpec& storage) { storage.timeout = 300ms; });
  const std::string content = random_bytes(24 * kMiB);
  const auto file = object_in(store, store.write("k", content));
  store.server().change([](StubOptions& options) {
    options.refused_share = 0.1;
    options.stalled_share = 0.1;
    options.reset_share = 0.1;
    options.short_share = 0.1;
  });
  std::vector<std::pair<std::uint64_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < 48; ++i) ranges.emplace_back(i * kMiB / 2, 100'000 + i);
  check_ranges(*file, content, ranges);
}

TEST_CASE("a store that refuses for ever is given up with what it said", "[actors][store]") {
  StubStore store([](StorageSpec& storage) { storage.give_up_after = 300ms; });
  const auto file = object_in(store, store.write("k", random_bytes(kMiB)));
  store.server().change([](StubOptions& options) { options.refused_share = 1; });
  std::string out(10, '?');
  const Status status = file->read(0, out);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kTimeout);
  const std::string& message = status.error().message;
  CHECK(message.starts_with("s3://bucket/k: no byte came for 0 s in "));
  // Each request but the one that described the file was a try.
  const std::string tries = std::to_string(store.systems.counts()->requests() - 1);
  CHECK(message.find(" s in " + tries + " tries (storage.give_up_after)") != std::string::npos);
  CHECK(
      message.ends_with("HTTP 503 SlowDown: SlowDown of a stub; the store asks for fewer requests: "
                        "lower storage.connections, or run again later"));
}

TEST_CASE("nobody at the endpoint is given up after the same time", "[actors][store]") {
  StubStore store([](StorageSpec& storage) {
    storage.endpoint = "http://127.0.0.1:1";
    storage.give_up_after = 200ms;
  });
  const auto file = store.open("s3://bucket/k");
  REQUIRE_FALSE(file);
  CHECK(file.error().code == Code::kTimeout);
  CHECK(file.error().message.find("check the address, its port") != std::string::npos);
}

TEST_CASE("an endpoint that no request can go to is refused with what is wrong",
          "[actors][store]") {
  const auto refusal = [](const std::string& endpoint) {
    StubStore store([&endpoint](StorageSpec& storage) { storage.endpoint = endpoint; });
    const auto file = store.open("s3://bucket/k");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == Code::kInvalid);
    CHECK(store.systems.counts()->requests() == 0);
    return file.error().message;
  };
  CHECK(refusal("http://h:70000") ==
        "storage.endpoint: http://h: its port is not a number from 1 to 65535");
  const std::string with_query = refusal("http://h/?sig=hidden");
  CHECK(with_query.starts_with("storage.endpoint has a query (?) or a fragment (#)"));
  CHECK(with_query.find("hidden") == std::string::npos);
  CHECK(refusal("http://h#x") == with_query);
}

std::string refusal_of(const StubStore& store, const std::string& path, Code code) {
  const auto file = store.open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == code);
  return file.error().message;
}

TEST_CASE("what a store refuses is said at once, with the bucket or key", "[actors][store]") {
  StubStore store;
  const std::string path = store.write("k", "x");
  CHECK(
      refusal_of(store, "s3://other/k", Code::kNotFound).starts_with("s3://other does not exist"));
  CHECK(refusal_of(store, "s3://bucket/no", Code::kNotFound)
            .starts_with("s3://bucket/no does not exist"));
  CHECK(refusal_of(store, "s3://bucket/", Code::kInvalid).find("name its files") !=
        std::string::npos);
  const auto listed = store.systems.of(path)->list("s3://other/*");
  REQUIRE_FALSE(listed);
  CHECK(listed.error().message.starts_with("s3://other does not exist"));

  SECTION("another region") {
    store.server().change([](StubOptions& options) { options.region = "eu-west-3"; });
    CHECK(refusal_of(store, path, Code::kInvalid) ==
          "s3://bucket is in region eu-west-3, not in us-east-1; set storage.region = "
          "\"eu-west-3\"");
  }
  SECTION("a clock that is off by an hour") {
    store.server().change([](StubOptions& options) { options.clock_ahead = 3600; });
    CHECK(refusal_of(store, path, Code::kInvalid).find("clock and the store's differ") !=
          std::string::npos);
  }
  SECTION("a wrong secret") {
    store.server().change([](StubOptions& options) { options.secret = "another"; });
    const std::string message = refusal_of(store, path, Code::kInvalid);
    CHECK(message.find("SignatureDoesNotMatch") != std::string::npos);
    CHECK(message.find("EXAMPLE") == std::string::npos);
  }
  SECTION("half a listing") {
    store.server().change([](StubOptions& options) { options.cut_listings = true; });
    const auto half = store.systems.of(path)->list("s3://bucket/*");
    REQUIRE_FALSE(half);
    CHECK(half.error().code == Code::kCorrupt);
    CHECK(half.error().message == "s3://bucket: its listing is cut off or is not XML");
  }
}

TEST_CASE("names with any character are listed and read", "[actors][store]") {
  StubStore store;
  const std::vector<std::string> names = {"a b.tsv", "a%20b.tsv", "a&<>.tsv", "a+b.tsv",
                                          "a\xc3\xa9.tsv"};
  for (const std::string& name : names) store.write("x=1/" + name, name);
  const auto files = store.systems.of("s3://")->list("s3://bucket/x=*/a*.tsv");
  REQUIRE(files);
  REQUIRE(files->size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK((*files)[i].path == "s3://bucket/x=1/" + names[i]);
    const auto file = object_in(store, (*files)[i].path);
    CHECK(file->stamp() == (*files)[i].stamp);
    std::string content(names[i].size(), '?');
    REQUIRE(file->read(0, content));
    CHECK(content == names[i]);
  }
}

TEST_CASE("without keys every s3 path says what is missing", "[actors][store]") {
  FileSystems systems;
  add_stores(systems, {}, [](const char*) { return std::nullopt; });
  const auto file = systems.of("s3://b/k")->open("s3://b/k");
  REQUIRE_FALSE(file);
  CHECK(file.error().message.starts_with("AWS_ACCESS_KEY_ID is not set"));
}

/// The same store without signatures.
struct WebStore : StubStore {
  WebStore() {
    server().change([](StubOptions& options) { options.access_key.clear(); });
  }
};

TEST_CASE("files of a web server are read by ranges", "[actors][store]") {
  WebStore store;
  const std::string content = random_bytes(3 * kMiB);
  store.write("a b", content);
  SECTION("as most are") {}
  SECTION("without HEAD") {
    store.server().change([](StubOptions& options) { options.without_head = true; });
  }
  SECTION("without ETag") {
    store.server().change([](StubOptions& options) { options.without_etag = true; });
  }
  SECTION("whole, by a server that ignores ranges") {
    store.server().change([](StubOptions& options) { options.ignore_ranges = true; });
  }
  const auto file = object_in(store, store.address("a b"));
  CHECK(file->size() == content.size());
  check_ranges(*file, content, {{0, 10}, {kMiB, kMiB}, {3 * kMiB - 1, 1}});
}

TEST_CASE("a file of which only a part tells a length is refused, not taken for that part",
          "[actors][store]") {
  WebStore store;
  store.server().change([](StubOptions& options) {
    options.without_head = true;
    options.without_total = true;
  });
  store.write("a", "more than a byte");
  const auto opened = store.open(store.address("a"));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::kInvalid);
  CHECK(opened.error().message.ends_with("cannot be read: the server does not tell its size"));
}

TEST_CASE("a server without strong ETags is announced once, with what notices a change instead",
          "[actors][store]") {
  WebStore store;
  store.write("a", "x");
  store.write("b", "x");
  static_cast<void>(object_in(store, store.address("a")));
  CHECK(store.announced.empty());
  std::string doubt;
  SECTION("weak ones") {
    doubt = "gives weak ETags";
    store.server().change([](StubOptions& options) { options.weak_etag = true; });
  }
  SECTION("none") {
    doubt = "gives no ETag: a change is noticed by the size and the time";
    store.server().change([](StubOptions& options) { options.without_etag = true; });
  }
  SECTION("none, and no time") {
    doubt = "gives neither an ETag nor a time";
    store.server().change(
        [](StubOptions& options) { options.without_etag = options.without_time = true; });
  }
  const auto file = object_in(store, store.address("a"));
  CHECK(store.announced.starts_with(store.address("a") + ": the server " + doubt));
  check_ranges(*file, "x", {{0, 1}});
  store.announced.clear();
  static_cast<void>(object_in(store, store.address("b")));
  CHECK(store.announced.empty());
}

TEST_CASE("an answer that is not HTTP names the address and what to check", "[actors][store]") {
  WebStore store;
  const std::string path = store.address(store.write("k", "x"));
  store.server().change([](StubOptions& options) { options.garbage = true; });
  const auto file = store.open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == Code::kInvalid);
  CHECK(file.error().message.find(" cannot be read: the answer is not HTTP/1") !=
        std::string::npos);
  CHECK(file.error().message.find("check the address and its port") != std::string::npos);
}

TEST_CASE("a web server has no globs, and says so without a request", "[actors][store]") {
  WebStore store;
  store.write("a", "x");
  const auto& web = store.systems.of("http://");
  const auto listed = web->list(store.address("*"));
  REQUIRE_FALSE(listed);
  CHECK(listed.error().code == Code::kInvalid);
  CHECK(listed.error().message.find("web servers do not list files") != std::string::npos);
  CHECK(store.server().requests() == 0);
  CHECK(web->list(store.address("a"))->size() == 1);
  CHECK(web->list(store.address("b"))->empty());
}

TEST_CASE("a file of a web server is one file however its address is spelt", "[actors][store]") {
  WebStore store;
  store.write("a~b", "x");
  const auto& web = store.systems.of("http://");
  const std::string key = web->stat(store.address("a~b"))->key;
  CHECK(web->stat(store.address("no/../a%7eb"))->key == key);
  CHECK(web->stat(store.address("%61%7Eb"))->key == key);
}

TEST_CASE("a key of a store is read as it is written, dots and escapes included",
          "[actors][store]") {
  StubStore store;
  const std::string path = store.write("a%7eb", "x");
  CHECK(object_in(store, path)->size() == 1);
  CHECK(store.open("s3://bucket/a%7Eb").error().code == Code::kNotFound);
  CHECK(store.open("s3://bucket/no/../a%7eb")
            .error()
            .message.starts_with("s3://bucket/no/../a%7eb does not exist"));
}

TEST_CASE("a file of a web server that changes is noticed by its name", "[actors][store]") {
  WebStore store;
  store.write("a", "before");
  const auto file = object_in(store, store.address("a"));
  store.write("a", "behind and longer");
  std::string out(6, '?');
  const Status status = file->read(0, out);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kCorrupt);
  CHECK(status.error().message.starts_with(store.address("a") + " changed since"));
}

}  // namespace
}  // namespace forebay
