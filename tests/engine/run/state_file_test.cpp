#include <sys/stat.h>

#include <filesystem>

#include "engine/run/run_outcome.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

LoaderState some_state() {
  LoaderState state;
  state.position.batches = 3;
  state.position.rows = 300;
  state.fingerprint = "0123456789abcdef0123456789abcdef";
  state.identity = {{"order.seed", "1"}};
  return state;
}

}  // namespace

TEST_CASE("a state file is read as it was written, and nothing lies beside it",
          "[tools][state_file]") {
  const test::TempDir dir;
  const std::string path = dir.write("state.json", "an older one");
  REQUIRE(write_state_file(path, some_state()));
  const auto read = read_state_file(path);
  REQUIRE(read);
  CHECK(*read == some_state());
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_CASE("a file that is not a loader state is refused by name", "[tools][state_file]") {
  const test::TempDir dir;
  const auto missing = read_state_file(dir.path("none"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Code::kNotFound);
  CHECK(missing.error().message.starts_with("--resume " + dir.path("none")));
  for (const std::string& text : {std::string("{}"), std::string("once"), std::string()}) {
    const auto damaged = read_state_file(dir.write("state.json", text));
    REQUIRE_FALSE(damaged);
    CHECK(damaged.error().code == Code::kCorrupt);
  }
  // At most 64 KiB are read, so a valid state that is followed by so many zeros is refused.
  const std::string large = dir.write("state.json", to_json(some_state()));
  for (const std::uintmax_t size : {std::uintmax_t{(64 << 10) + 1}, std::uintmax_t{8} << 30}) {
    std::filesystem::resize_file(large, size);
    const auto refused = read_state_file(large);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kCorrupt);
    CHECK(refused.error().message.find("larger than the 65536 bytes") != std::string::npos);
  }
}

TEST_CASE("a path that is not a regular file is refused without blocking", "[tools][state_file]") {
  const test::TempDir dir;
  const std::string fifo = dir.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& path : {fifo, dir.path(), std::string("/dev/zero")}) {
    const auto refused = read_state_file(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "--resume " + path + ": is not a regular file");
  }
}

TEST_CASE("a state that cannot be written leaves nothing behind", "[tools][state_file]") {
  const test::TempDir dir;
  // The path is a folder that is not empty, so renaming onto it fails.
  dir.write("state/inside", "x");
  CHECK_FALSE(write_state_file(dir.path("state"), some_state()));
  CHECK_FALSE(std::filesystem::exists(dir.path("state.partial")));
  CHECK(dir.read("state/inside") == "x");
}

}  // namespace forebay
