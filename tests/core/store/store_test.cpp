#include "core/store/store.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/store/rocks_store.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct InMemory {
  MemoryStore store;
  Store& open() { return store; }
};

struct OnDisk {
  test::TempDir folder;
  std::unique_ptr<RocksStore> store;

  /// Closes the store and opens it again.
  Store& open() {
    store.reset();
    store = std::move(RocksStore::open(folder.path("store")).value());
    return *store;
  }
};

Pairs pairs_of(const Store& store, std::string_view prefix, std::string_view from = "") {
  Pairs pairs;
  REQUIRE(store.scan(prefix, from, [&pairs](auto key, auto value) {
    pairs.emplace_back(key, value);
    return true;
  }));
  return pairs;
}

StoreBatch put(const Pairs& pairs) {
  StoreBatch batch;
  for (const auto& [key, value] : pairs) batch.put(key, value);
  return batch;
}

/// While an object lives no file of this process may grow beyond so many bytes: a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_ = {};
};

TEMPLATE_TEST_CASE("a store returns the values that were put and kNotFound for other keys",
                   "[core][store]", InMemory, OnDisk) {
  TestType fixture;
  Store& store = fixture.open();
  REQUIRE(store.write(put({{"node/1", "a"}, {"node/2", std::string("\0b", 2)}})));
  CHECK(store.get("node/1").value() == "a");
  CHECK(store.get("node/2").value() == std::string("\0b", 2));
  CHECK(store.get("node/3").error().code == Code::kNotFound);
  REQUIRE(store.write(put({{"node/1", "c"}})));
  CHECK(store.get("node/1").value() == "c");
}

TEMPLATE_TEST_CASE("a batch is applied in its order, erasures too", "[core][store]", InMemory,
                   OnDisk) {
  TestType fixture;
  Store& store = fixture.open();
  REQUIRE(store.write(put({{"a", "1"}, {"b", "1"}})));
  StoreBatch batch;
  batch.erase("a");
  batch.put("b", "2");
  batch.put("c", "1");
  batch.erase("c");
  batch.erase("never there");
  REQUIRE(store.write(batch));
  CHECK(pairs_of(store, "") == Pairs{{"b", "2"}});
}

TEMPLATE_TEST_CASE(
    "a scan visits one prefix in order, from a given key, until the visitor stops it",
    "[core][store]", InMemory, OnDisk) {
  TestType fixture;
  Store& store = fixture.open();
  REQUIRE(store.write(put({{"e/3", "c"}, {"e/1", "a"}, {"e/2", "b"}, {"d/9", ""}, {"f/0", ""}})));
  CHECK(pairs_of(store, "e/") == Pairs{{"e/1", "a"}, {"e/2", "b"}, {"e/3", "c"}});
  CHECK(pairs_of(store, "e/", "e/2") == Pairs{{"e/2", "b"}, {"e/3", "c"}});
  CHECK(pairs_of(store, "g/").empty());
  int visited = 0;
  REQUIRE(store.scan("e/", "", [&visited](auto, auto) { return ++visited < 2; }));
  CHECK(visited == 2);
}

TEST_CASE("a store on disk keeps its pairs when opened again", "[core][store]") {
  OnDisk fixture;
  REQUIRE(fixture.open().write(put({{"epoch", "7"}})));
  CHECK(fixture.open().get("epoch").value() == "7");
}

TEST_CASE("a store that is open already is refused by name", "[core][store]") {
  OnDisk fixture;
  fixture.open();
  const auto again = RocksStore::open(fixture.folder.path("store"));
  REQUIRE_FALSE(again);
  CHECK(again.error().code == Code::kUnavailable);
  CHECK(again.error().message.find("already open in this process") != std::string::npos);

  SECTION("its owner continues") { REQUIRE(fixture.store->write(put({{"a", "1"}}))); }
}

TEST_CASE("a store that another process holds is refused with that process's number",
          "[core][store]") {
  OnDisk fixture;
  int ready[2];
  int end[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(end) == 0);
  const std::string folder = fixture.folder.path("store");
  const pid_t child = ::fork();
  if (child == 0) {  // Holds the store until the parent closes its end.
    ::close(end[1]);
    char byte = 0;
    {
      const auto held = RocksStore::open(folder);
      if (!held || ::write(ready[1], &byte, 1) != 1) ::_exit(1);
      static_cast<void>(!::read(end[0], &byte, 1));
    }
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const auto refused = RocksStore::open(folder);
  ::close(end[1]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (const int file : {ready[0], end[0]}) ::close(file);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kUnavailable);
  CHECK(refused.error().message.find("held by process " + std::to_string(child)) !=
        std::string::npos);
}

TEST_CASE("a store on a full disk refuses with its place, and goes on when there is room",
          "[core][store]") {
  OnDisk fixture;
  Store& store = fixture.open();
  REQUIRE(store.write(put({{"before", "1"}})));
  {
    const FullDisk full(64 * 1024);
    const auto refused = store.write(put({{"large", std::string(256 * 1024, 'x')}}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kUnavailable);
    CHECK(refused.error().message.find(fixture.folder.path("store")) != std::string::npos);
  }
  REQUIRE(store.write(put({{"after", "1"}})));
  CHECK(store.get("before").value() == "1");
  CHECK(fixture.open().get("after").value() == "1");
}

// ThreadSanitizer does not see how the library RocksDB, which is built without it, orders writes of
// several threads.
#ifndef __SANITIZE_THREAD__
TEST_CASE("threads share a store on disk, also while the disk is full", "[core][store]") {
  OnDisk fixture;
  Store& store = fixture.open();
  std::atomic<bool> over{false};
  std::vector<std::string> written;
  std::thread other([&] {
    for (int i = 0; !over || written.empty(); ++i) {
      const std::string key = "other/" + std::to_string(i);
      if (store.write(put({{key, "1"}}))) written.push_back(key);
    }
  });
  for (int i = 0; i < 5; ++i) {
    {
      const FullDisk full(64 * 1024);
      CHECK_FALSE(store.write(put({{"large", std::string(256 * 1024, 'x')}})));
    }
    // The other thread's failure may reach the store once more.
    while (!store.write(put({{"after", std::to_string(i)}}))) continue;
    CHECK(store.get("after").value() == std::to_string(i));
  }
  over = true;
  other.join();
  Store& again = fixture.open();
  CHECK(again.get("after").value() == "4");
  CHECK(std::all_of(written.begin(), written.end(), [&again](const std::string& key) {
    return again.get(key).value_or("") == "1";
  }));
}
#endif

TEST_CASE("a store that could not even be opened on a full disk is read when there is room",
          "[core][store]") {
  OnDisk fixture;
  Store& store = fixture.open();
  REQUIRE(store.write(put({{"before", "1"}})));
  {
    const FullDisk full(16);  // Too little even to open it.
    REQUIRE_FALSE(store.write(put({{"large", std::string(256, 'x')}})));
    CHECK(store.get("before").error().code == Code::kUnavailable);
    CHECK(store.scan("", "", [](auto, auto) { return true; }).error().code == Code::kUnavailable);
  }
  CHECK(pairs_of(store, "bef") == Pairs{{"before", "1"}});
  CHECK(store.get("before").value() == "1");
  // RocksDB's error log would end the process on a disk that takes no second line.
  CHECK_FALSE(std::filesystem::exists(fixture.folder.path("store/LOG")));
}

}  // namespace
}  // namespace forebay
