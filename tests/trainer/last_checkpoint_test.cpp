#include "trainer/saving/last_checkpoint.h"

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// A folder of checkpoints, those that were read, and those of which damage was told.
struct Folder {
  const test::TempDir dir;
  std::vector<std::string> read;
  std::vector<std::string> damaged;

  std::string path(int batches) const {
    return dir.path() + "/checkpoint-00000000" + std::to_string(batches);
  }
  void put(int batches) const { fs::create_directory(path(batches)); }

  /// `each` may fail, or change the folder as a run does that goes on saving.
  Status read_last(const std::function<Status(const std::string&)>& each) {
    return read_last_checkpoint(
        dir.path(),
        {.read =
             [&](const std::string& checkpoint) {
               read.push_back(checkpoint);
               return each(checkpoint);
             },
         .on_damaged = [&](const Error& damage) { damaged.push_back(damage.message); }});
  }
};

}  // namespace

TEST_CASE("where a checkpoint is removed while it is read, the last one is taken again",
          "[trainer][saving]") {
  Folder folder;
  folder.put(1);
  const auto done = folder.read_last([&](const std::string& checkpoint) -> Status {
    if (checkpoint != folder.path(1)) return {};
    folder.put(2);
    fs::remove(folder.path(1));
    return fail(Code::kCorrupt, "manifest.json is missing");
  });
  CHECK(done);
  CHECK(folder.read == std::vector{folder.path(1), folder.path(2)});
  CHECK(folder.damaged.empty());
}

TEST_CASE("a folder whose checkpoints never last until they are read is given up",
          "[trainer][saving]") {
  Folder folder;
  folder.put(1);
  const auto done = folder.read_last([&](const std::string& checkpoint) {
    fs::remove(checkpoint);
    folder.put(1 + static_cast<int>(folder.read.size() % 2));
    return fail(Code::kCorrupt, "manifest.json is missing");
  });
  REQUIRE_FALSE(done);
  CHECK(done.error().code == Code::kUnavailable);
  CHECK(done.error().message.find("trainer.keep") != std::string::npos);
  CHECK(folder.read.size() == kMostSearches);
}

TEST_CASE("a damaged checkpoint is told of, and the one before it is read", "[trainer][saving]") {
  Folder folder;
  for (const int batches : {1, 2, 3}) folder.put(batches);
  const auto done = folder.read_last([&](const std::string& checkpoint) -> Status {
    if (checkpoint == folder.path(3)) return fail(Code::kCorrupt, "damaged");
    return {};
  });
  CHECK(done);
  CHECK(folder.read == std::vector{folder.path(3), folder.path(2)});
  CHECK(folder.damaged == std::vector<std::string>{"damaged"});
}

TEST_CASE("an error that is no damage ends the reading, and so does the damage of the first one",
          "[trainer][saving]") {
  Folder folder;
  folder.put(1);
  folder.put(2);
  auto done = folder.read_last(
      [](const std::string&) { return fail(Code::kOverloaded, "the model takes 3 TiB"); });
  CHECK(done.error().code == Code::kOverloaded);
  done = folder.read_last([](const std::string&) { return fail(Code::kCorrupt, "damaged"); });
  CHECK(done.error().code == Code::kCorrupt);
  CHECK(folder.read == std::vector{folder.path(2), folder.path(2), folder.path(1)});
  CHECK(folder.damaged.size() == 1);
  CHECK(checkpoints_at(folder.dir.path() + "/nowhere").error().code == Code::kNotFound);
}

}  // namespace forebay
