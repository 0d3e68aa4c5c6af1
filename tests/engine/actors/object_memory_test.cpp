#include "engine/actors/objects/object_memory.h"

#include <memory>
#include <string>
#include <string_view>

#include "core/base/crc32c.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct MemoryFixture {
  ObjectKey add(std::uint64_t number, const std::string& content) {
    const auto held = std::make_shared<const std::string>(content);
    auto counted =
        memory.count({held, reinterpret_cast<const std::byte*>(held->data()), held->size()});
    REQUIRE(counted);
    const ObjectInfo info{{1, number}, content.size(), crc32c(content)};
    memory.add(info, std::move(*counted));
    return info.key;
  }
  Result<Frame> count_more(std::size_t bytes) {
    static const std::string many(1000, 'x');
    return memory.count({nullptr, reinterpret_cast<const std::byte*>(many.data()), bytes});
  }
  static std::string_view text(const Frame& frame) {
    return {reinterpret_cast<const char*>(frame.data()), frame.size()};
  }

  test::TempDir folder;
  ObjectMemory memory{{.memory_bytes = 300, .disk_bytes = 400, .folder = folder.path()}};
};

}  // namespace

TEST_CASE_METHOD(MemoryFixture, "objects beyond the memory go to disk, the longest unused first",
                 "[actors][objects]") {
  const ObjectKey a = add(1, std::string(100, 'a'));
  const ObjectKey b = add(2, std::string(100, 'b'));
  const ObjectKey c = add(3, std::string(100, 'c'));
  REQUIRE(memory.resident(a));  // used after b
  const ObjectKey d = add(4, std::string(100, 'd'));
  CHECK_FALSE(memory.resident(b));
  CHECK(memory.resident(a));
  CHECK(memory.resident(c));
  CHECK(memory.resident(d));
  CHECK(memory.disk_bytes() == 100);
  const auto back = memory.load(b);  // another one goes
  REQUIRE(back);
  CHECK(text(*back) == std::string(100, 'b'));
  CHECK_FALSE(memory.resident(a));
  CHECK(memory.memory_bytes() == 300);
}

TEST_CASE_METHOD(MemoryFixture, "an object that is viewed stays in memory, also when it is erased",
                 "[actors][objects]") {
  const ObjectKey a = add(1, std::string(200, 'a'));
  auto view = memory.resident(a);
  REQUIRE(view);
  CHECK(count_more(200).error().code == Code::kOverloaded);
  CHECK(memory.disk_bytes() == 0);
  CHECK(memory.resident(a));
  memory.erase(a);
  CHECK(memory.load(a).error().code == Code::kNotFound);
  CHECK(text(*view) == std::string(200, 'a'));
  CHECK(memory.memory_bytes() == 200);
  CHECK(count_more(200).error().code == Code::kOverloaded);
  view.reset();
  CHECK(memory.memory_bytes() == 0);
  CHECK(count_more(200));
}

TEST_CASE_METHOD(MemoryFixture, "full limits refuse an object and say which", "[actors][objects]") {
  CHECK(count_more(301).error().code == Code::kInvalid);
  for (std::uint64_t number = 1; number <= 7; ++number) add(number, std::string(100, 'x'));
  CHECK(memory.disk_bytes() == 400);
  const auto refused = count_more(1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK(refused.error().message.find("300 of 300 bytes of memory and 400 of 400 bytes of disk") !=
        std::string::npos);
  memory.erase({1, 1});  // on the disk
  CHECK(memory.disk_bytes() == 300);
  CHECK(count_more(1));
}

TEST_CASE_METHOD(MemoryFixture, "an object on the disk that is read stays there for the next time",
                 "[actors][objects]") {
  const ObjectKey a = add(1, std::string(300, 'a'));
  add(2, "b");
  REQUIRE(memory.disk_bytes() == 300);
  REQUIRE(memory.load(a));  // b goes
  CHECK(memory.disk_bytes() == 301);
  REQUIRE(memory.load({1, 2}));  // a goes, without being written again
  CHECK(memory.disk_bytes() == 301);
  CHECK(text(*memory.load(a)) == std::string(300, 'a'));
}

TEST_CASE("a folder that is absent refuses what would go to disk", "[actors][objects]") {
  ObjectMemory memory({.memory_bytes = 10, .disk_bytes = 100, .folder = "/nowhere"});
  auto one = memory.allocate(10);
  REQUIRE(one);
  memory.add({{1, 1}, 10, 0}, std::exchange(one->frame, {}));
  const auto refused = memory.allocate(10);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("/nowhere") != std::string::npos);
}

TEST_CASE("bytes that the disk has changed are corrupt", "[actors][objects]") {
  const test::TempDir folder;
  ObjectMemory memory({.memory_bytes = 10, .disk_bytes = 100, .folder = folder.path()});
  auto one = memory.allocate(10);
  REQUIRE(one);
  memory.add({{1, 1}, 10, 12345}, std::exchange(one->frame, {}));  // another digest
  REQUIRE(memory.allocate(10));
  CHECK(memory.load({1, 1}).error().code == Code::kCorrupt);
}

}  // namespace forebay
