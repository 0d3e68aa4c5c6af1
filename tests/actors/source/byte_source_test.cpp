#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "actors/source/spilling.h"
#include "actors/source/text_blocks.h"
#include "core/base/random.h"
#include "tests/actors/source/dataset_folder.h"
#include "tests/actors/source/packed.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::DatasetFolder;

constexpr std::size_t kBytes = 6'000'000;  // several restart points

// One case of the contract: how the content is stored, and which options read it.
struct Plain {
  static constexpr const char* kName = "a.tsv";
  static std::string pack(const std::string& content) { return content; }
  static void set(DatasetOptions&) {}
};
struct GzipInOrder {
  static constexpr const char* kName = "a.tsv.gz";
  static std::string pack(const std::string& content) { return test::gzip(content); }
  static void set(DatasetOptions&) {}
};
struct GzipAnywhere : GzipInOrder {
  static void set(DatasetOptions& options) { options.random_access = true; }
};
struct GzipMembers : GzipInOrder {
  static std::string pack(const std::string& content) {
    return test::gzip_members(content, 400'000) + std::string(1000, '\0');
  }
};
struct ZstdFrames {
  static constexpr const char* kName = "a.tsv.zst";
  static std::string pack(const std::string& content) {
    return test::zstd_frames(content, 150'000);
  }
  static void set(DatasetOptions&) {}
};
struct ZstdOneFrame : ZstdFrames {
  static std::string pack(const std::string& content) { return test::zstd(content); }
};
struct Spilled : GzipAnywhere {
  static void set(DatasetOptions& options) {
    options.random_access = true;
    options.spill_limit = 1 << 30;
  }
};

TEMPLATE_TEST_CASE("a source reads any bytes of its file", "[actors][source]", Plain, GzipInOrder,
                   GzipAnywhere, GzipMembers, ZstdFrames, ZstdOneFrame, Spilled) {
  const std::string content = test::random_lines(11, kBytes);
  DatasetFolder folder;
  TestType::set(folder.options);
  folder.write(TestType::kName, TestType::pack(content));
  const auto dataset = folder.opened({"*"});
  REQUIRE(dataset->bytes() == content.size());
  auto opened = test::open_content(*dataset, 0);
  REQUIRE(opened);
  ByteSource& source = **opened;

  SECTION("in random order") {
    Random random(12);
    for (int i = 0; i < 150; ++i) {
      const std::uint64_t bytes = random.below(40'000);
      const std::uint64_t offset = random.below(content.size() - bytes + 1);
      INFO("read " << i << ": " << bytes << " bytes from " << offset);
      REQUIRE((test::read(source, offset, bytes) == content.substr(offset, bytes)));
    }
  }
  SECTION("forward with gaps, and its ends") {
    CHECK((test::read(source, 0, 1) == content.substr(0, 1)));
    for (std::uint64_t offset = 10; offset + 50'000 < content.size(); offset += 70'000) {
      REQUIRE((test::read(source, offset, 50'000) == content.substr(offset, 50'000)));
    }
    CHECK((test::read(source, content.size() - 7, 7) == content.substr(content.size() - 7)));
    CHECK(test::read(source, content.size(), 0).empty());
    CHECK((test::read(source, 0, content.size()) == content));
  }
  SECTION("a read past the end is refused") {
    std::string bytes(10, '\0');
    auto status = source.read(content.size() - 5, bytes);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Code::kCorrupt);
    CHECK((test::read(source, 5, 10) == content.substr(5, 10)));
  }
  SECTION("after hints about blocks") {
    const std::vector<BlockRef> blocks = test::blocks_of(*dataset);
    source.prepare(blocks);
    for (std::size_t i = 0; i < blocks.size(); i += blocks.size() / 50) {
      const BlockRef& block = blocks[i];
      CHECK((test::read(source, block.offset, block.bytes) ==
             content.substr(block.offset, block.bytes)));
    }
  }
}

TEST_CASE("a read from a restart point inflates a small part of the file", "[actors][source]") {
  // After the file's first half is destroyed, content after the next restart point is still
  // readable.
  const std::string content = test::random_lines(13, kBytes);
  const std::string packed = test::gzip(content);
  DatasetFolder folder;
  const std::string path = folder.write("a.tsv.gz", packed);
  const auto dataset = folder.opened({"a.tsv.gz"});
  const auto time = std::filesystem::last_write_time(path);
  folder.write("a.tsv.gz", std::string(packed.size() / 2, '\0') + packed.substr(packed.size() / 2));
  std::filesystem::last_write_time(path, time);
  auto source = test::open_content(*dataset, 0);
  REQUIRE(source);
  const std::uint64_t offset = content.size() / 2 + 2'000'000;
  CHECK((test::read(**source, offset, 1000) == content.substr(offset, 1000)));
  std::string bytes(10, '\0');
  auto status = (*source)->read(100, bytes);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::kCorrupt);
  CHECK(status.error().message.find("a.tsv.gz is damaged at byte") != std::string::npos);
}

}  // namespace
}  // namespace forebay
