#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/temp_dir.h"
#include "trainer/log/run_log.h"

#include "tests/support/catch.h"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// The PyPI packages tensorboard 2.21 (its record writer) and protobuf 7.36 write the same bytes for
// these events.
TEST_CASE("records are TensorBoard's bytes", "[trainer][log]") {
  CHECK(hex(version_record(1.5)) ==
        "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
  CHECK(hex(start_record(2.25, 300)) ==
        "100000000000000095fbfe1809000000000000024010ad023a020801518d2ae0");
  const Scalar scalars[] = {{"train/loss", 0.25F}, {"eval/auc", 0.75F}};
  CHECK(hex(scalars_record(3, 1'000'000, scalars)) ==
        "33000000000000000ca7205609000000000000084010c0843d2a240a110a0a747261696e2f6c6f737315000080"
        "3e0a0f0a086576616c2f617563150000403f3e8d7fb2");
}

TEST_CASE("a run's events are a file of its own that sorts behind earlier ones", "[trainer][log]") {
  const test::TempDir folder;
  const fs::path place = fs::path(folder.path()) / "below" / "logs";
  double now = 1700000000;
  const auto clock = [&] { return now; };
  {
    auto first = EventFile::create(place.string(), 0, clock);
    REQUIRE(first);
    now += 1;
    REQUIRE(first->write({.step = 10, .loss = 0.5, .auc = 0.75}));
  }
  now -= 1;
  REQUIRE(EventFile::create(place.string(), 7, clock));  // In the same second.
  std::vector<fs::path> files(fs::directory_iterator(place), {});
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() == 2);
  CHECK(files[0].filename().string().starts_with("events.out.tfevents.1700000000."));
  const Scalar scalars[] = {{"train/loss", 0.5F}, {"eval/auc", 0.75F}};
  CHECK(content_of(files[0]) ==
        version_record(now) + start_record(now, 0) + scalars_record(now + 1, 10, scalars));
  CHECK(content_of(files[1]) == version_record(now) + start_record(now, 7));
}

TEST_CASE("a place where events cannot be written is refused by its key", "[trainer][log]") {
  const auto clock = [] { return 1.0; };
  for (const char* place : {"/proc/logs", "/proc", "/dev/null/logs"}) {
    auto refused = EventFile::create(place, 0, clock);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kInvalid);
    CHECK(refused.error().message.find(place) != std::string::npos);
    CHECK(refused.error().message.find("trainer.tensorboard") != std::string::npos);
  }
}
