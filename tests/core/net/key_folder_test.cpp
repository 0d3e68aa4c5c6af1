#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/net/curve_keys.h"
#include "core/net/zmq/zap_authenticator.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;
using namespace test;
namespace fs = std::filesystem;

std::string new_key() { return KeyPair::generate()->public_key; }

/// A folder with one good key, under a clock that is moved by hand.
struct Folder {
  Folder() { put("good.key", good + "\n"); }
  void put(const std::string& name, const std::string& text) const {
    dir.write("clients/" + name, text);
  }
  std::string path(const std::string& name) const { return dir.path("clients/" + name); }
  bool has(const std::string& key) { return keys.has(key, now); }
  void pass(KeyFolder::Time time) {
    now += time;
    keys.look(now);
  }
  bool was_said(const std::string& words) const {
    for (const std::string& each : said) {
      if (each.find(words) != std::string::npos) return true;
    }
    return false;
  }

  TempDir dir;
  std::string good = new_key();
  KeyFolder::Time now{0};
  std::vector<std::string> said;
  KeyFolder keys{dir.path("clients"), [this](const std::string& words) { said.push_back(words); }};
};

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions(); }

TEST_CASE("new keys can be read by their owner only, the public ones too", "[core][net]") {
  const TempDir dir;
  const fs::path folder = dir.path("new/keys");
  REQUIRE(CurveKeys::create(folder));
  CHECK(mode_of(folder) == fs::perms(0700));
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    CAPTURE(entry.path());
    CHECK(mode_of(entry.path()) == fs::perms(entry.is_directory() ? 0700 : 0600));
    files += entry.is_regular_file() ? 1 : 0;
  }
  CHECK(files == 5);  // two pairs, and the client's public key once more
  CHECK(CurveKeys::read(folder));
}

/// Runs `work` while no file can grow beyond `bytes`, as on a full disk.
template <class Work>
auto on_a_full_disk(rlim_t bytes, const Work& work) {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = bytes, .rlim_max = before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto done = work();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return done;
}

TEST_CASE("keys that a full disk does not hold leave nothing, so that they can be made again",
          "[core][net]") {
  const TempDir dir;
  const std::string folder = dir.path("keys");
  const auto refused = on_a_full_disk(10, [&] { return CurveKeys::create(folder); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "key file " + folder + "/server.key: cannot be written: File too large");
  CHECK_FALSE(fs::exists(folder));
  REQUIRE(CurveKeys::create(folder));
  CHECK_FALSE(on_a_full_disk(10, [&] { return CurveKeys::add_client(folder, "node"); }));
  CHECK_FALSE(fs::exists(folder + "/node.key"));
  CHECK(CurveKeys::add_client(folder, "node"));
  CHECK(CurveKeys::read(folder));
}

TEST_CASE("files that hold no key are named once, and the keys of all others count",
          "[core][net]") {
  Folder folder;
  folder.put("garbage.key", std::string(100'000, 'g'));
  folder.put("empty.key", "");
  fs::create_directory(folder.path("folder.key"));
  fs::create_symlink("nothing", folder.path("dangling.key"));
  CHECK(folder.has(folder.good));
  folder.pass(1s);
  CHECK(folder.said.size() == 4);
  for (const char* name : {"garbage.key", "empty.key", "folder.key", "dangling.key"}) {
    CAPTURE(name);
    CHECK(folder.was_said(name));
  }
  for (int i = 0; i < 10; ++i) folder.pass(1s);
  CHECK(folder.said.size() == 4);
  CHECK(folder.has(folder.good));
  folder.put("empty.key", "still no key");
  folder.pass(1s);
  folder.pass(1s);
  CHECK(folder.said.size() == 5);
}

TEST_CASE("a FIFO among the keys is not waited for", "[core][net]") {
  Folder folder;
  REQUIRE(::mkfifo(folder.path("fifo.key").c_str(), 0600) == 0);
  CHECK(folder.has(folder.good));
  folder.pass(1s);
  CHECK(folder.was_said("fifo.key: is no regular file"));
}

TEST_CASE("a file is not named while it is being copied, and counts when it is whole",
          "[core][net]") {
  Folder folder;
  const std::string key = new_key();
  folder.put("new.key", key.substr(0, 20));
  folder.pass(1s);
  CHECK_FALSE(folder.has(key));
  folder.put("new.key", key);
  folder.pass(1s);
  CHECK(folder.has(key));
  folder.pass(1s);
  CHECK(folder.said.empty());
}

TEST_CASE("a key that is written over another one takes its place", "[core][net]") {
  Folder folder;
  folder.pass(10s);
  folder.pass(10s);
  const std::string key = new_key();
  struct stat before {};
  REQUIRE(::stat(folder.path("good.key").c_str(), &before) == 0);
  folder.put("good.key", key + "\n");
  SECTION("with another time") {}
  SECTION("with the time of the file before") {
    const std::array<timespec, 2> times{before.st_atim, before.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, folder.path("good.key").c_str(), times.data(), 0) == 0);
  }
  CHECK_FALSE(folder.has(folder.good));  // At once, although the previous look found it.
  folder.pass(1s);
  CHECK(folder.has(key));
}

TEST_CASE("a key that is removed counts no more at once, and one that is added counts",
          "[core][net]") {
  Folder folder;
  const std::string key = new_key();
  CHECK(folder.has(folder.good));
  folder.pass(10s);
  folder.put("new.key", key);
  fs::remove(folder.path("good.key"));
  CHECK(folder.has(key));
  CHECK_FALSE(folder.has(folder.good));
  CHECK_FALSE(folder.has(""));
}

TEST_CASE("keys may be links, and their targets may change", "[core][net]") {
  Folder folder;
  const std::string key = new_key();
  folder.dir.write("elsewhere/node.key", folder.good);
  fs::remove(folder.path("good.key"));
  fs::create_symlink("../elsewhere/node.key", folder.path("good.key"));
  CHECK(folder.has(folder.good));
  folder.dir.write("elsewhere/node.key", key);
  folder.pass(1s);
  CHECK(folder.has(key));
  CHECK_FALSE(folder.has(folder.good));
}

TEST_CASE("no key counts while the folder cannot be read, and one message says so", "[core][net]") {
  Folder folder;
  CHECK(folder.has(folder.good));
  fs::rename(folder.dir.path("clients"), folder.dir.path("gone"));
  for (int i = 0; i < 3; ++i) folder.pass(1s);
  CHECK_FALSE(folder.has(folder.good));
  CHECK(folder.said.size() == 1);
  CHECK(folder.was_said("cannot be read"));
  fs::rename(folder.dir.path("gone"), folder.dir.path("clients"));
  CHECK(folder.has(folder.good));
}

TEST_CASE("keys that are known count while no file can be opened", "[core][net]") {
  Folder folder;
  CHECK(folder.has(folder.good));
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  rlimit few = files;
  few.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  folder.pass(1s);
  const bool known = folder.has(folder.good);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  CHECK(known);
  CHECK(folder.said.empty());
}

TEST_CASE("of many files without a key, some are named and the rest are counted", "[core][net]") {
  Folder folder;
  for (int i = 0; i < 50; ++i) folder.put(std::to_string(i) + ".key", "x");
  folder.pass(1s);
  folder.pass(1s);
  CHECK(folder.said.size() == 5);
  CHECK(folder.was_said("46 other *.key files"));
}

TEST_CASE("a key is 40 letters of Z85 and perhaps a line's end", "[core][net]") {
  const std::string key = new_key();
  CHECK(key_in(key) == key);
  CHECK(key_in(key + "\n") == key);
  for (const std::string& wrong :
       {std::string(), key + "x", key + "\n\n", key.substr(1), std::string(40, '~'),
        key.substr(0, 35) + std::string(5, '\0'), std::string(40, '\xff')}) {
    CHECK_FALSE(key_in(wrong));
  }
}

}  // namespace
}  // namespace forebay
