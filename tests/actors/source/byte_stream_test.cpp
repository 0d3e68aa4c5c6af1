#include "actors/source/stored/byte_stream.h"

#include <cstdint>
#include <string>
#include <vector>

#include "actors/input/local_file_system.h"
#include "actors/source/stored/zstd_stream.h"
#include "core/base/random.h"
#include "tests/actors/source/packed.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::TempDir;

struct CountingLog final : RestartLog {
  std::vector<RestartPoint> points;
  Status add(const RestartPoint& point, std::span<const char>) override {
    points.push_back(point);
    return {};
  }
};

// Returns the whole content, read in pieces of `piece` bytes, or the stream's error.
Result<std::string> decode(const std::string& stored, Codec codec, std::size_t piece = 10'000,
                           RestartLog* log = nullptr, const UnpackRoom& room = {}) {
  TempDir folder;
  auto file = open_local_file(folder.write("x", stored));
  REQUIRE(file);
  auto stream = open_stream(**file, codec, {}, log, room);
  REQUIRE(stream);
  std::string content;
  while (true) {
    std::string next(piece, '\0');
    auto got = (*stream)->next(next);
    if (!got) return pass(got);
    content += next.substr(0, *got);
    if (*got < piece) break;
  }
  CHECK((*stream)->consumed() == stored.size());
  return content;
}

std::string refusal(const std::string& stored, Codec codec) {
  auto content = decode(stored, codec);
  REQUIRE_FALSE(content);
  CHECK(content.error().code == Code::kCorrupt);
  return content.error().message;
}

bool mentions(const std::string& message, const std::string& text) {
  return message.find(text) != std::string::npos;
}

TEST_CASE("a stream gives the content, whatever the size of its pieces", "[actors][source]") {
  const std::string content = test::random_lines(21, 500'000);
  for (const std::size_t piece : {1'000U, 131'072U, 1'000'000U}) {
    CHECK((decode(content, Codec::kPlain, piece).value() == content));
    CHECK((decode(test::gzip(content), Codec::kGzip, piece).value() == content));
    CHECK((decode(test::gzip_members(content, 70'000), Codec::kGzip, piece).value() == content));
    CHECK((decode(test::zstd(content), Codec::kZstd, piece).value() == content));
    CHECK((decode(test::zstd_frames(content, 70'000), Codec::kZstd, piece).value() == content));
  }
}

constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("a zstd window of any size is read, and counts as far as it is filled",
          "[actors][source]") {
  const std::string content = test::random_lines(23, 3 << 20);
  const std::string wide = test::with_window(test::zstd(content), 28);
  const auto within = [&](const std::string& stored, std::uint64_t bytes, int streams) {
    return decode(stored, Codec::kZstd, 10'000, nullptr, {.bytes = bytes, .streams = streams});
  };
  CHECK((within(wide, 4 * kMiB, 1).value() == content));
  CHECK((within(test::with_window(test::zstd(content), 21), 2 * kMiB, 1).value() == content));
  // Two frames in sequence need no more memory than the larger one.
  CHECK((within(wide + wide, 4 * kMiB, 1).value() == content + content));
  const auto refused = within(wide, 2 * kMiB, 3);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK(mentions(refused.error().message, "keeps 256 MiB in memory while it is unpacked"));
  CHECK(mentions(refused.error().message, "leaves 2 MiB: raise pipeline.memory by 762 MiB"));
}

TEST_CASE("a zstd window too large to decompress is refused by its size", "[actors][source]") {
  const auto refused = decode(test::with_window(test::zstd("some text\n"), 32), Codec::kZstd);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kOverloaded);
  CHECK(mentions(refused.error().message,
                 "byte 0 has a zstd window of 4096 MiB, and zstd unpacks 2048 MiB at most"));
}

TEST_CASE("a zstd frame's header gives the memory that decompressing it takes",
          "[actors][source]") {
  const auto read = [](const std::string& frame) { return ZstdFrame::read(frame); };
  for (const std::size_t size : {10U, 300U, 70'000U}) {
    const std::string frame = test::zstd(std::string(size, 'x'));
    CHECK(read(frame)->memory() == size);
    CHECK(read(test::with_window(frame, 27))->memory() == 128 * kMiB);
  }
  using namespace std::literals;
  CHECK(read("\x28\xb5\x2f\xfd\x80\x0c\0\0\x10\0"s)->content == kMiB);  // window byte, 4-byte size
  CHECK(read("\x28\xb5\x2f\xfd\0\x0c"s)->window == 3072);               // 2 KiB and 4/8 of it
  CHECK_FALSE(read("\x28\xb5\x2f\xfd\x80\x0c\0\0\x10"s));
  CHECK_FALSE(read("\x50\x2a\x4d\x18\0\0\0\0"s));  // a skippable frame
  CHECK_FALSE(read(""));
}

TEST_CASE("as many wide windows are decompressed at once as memory allows", "[actors][source]") {
  const TempDir folder;
  const auto listed = [&](const std::string& name, const std::string& stored) {
    ListedFile file;
    file.path = folder.write(name, stored);
    file.codec = Codec::kZstd;
    file.file_system = FileSystems().of(file.path);
    return file;
  };
  const ListedFile usual = listed("usual", test::zstd("x"));
  const ListedFile wide = listed("wide", test::with_window(test::zstd("x"), 27));
  CHECK(UnpackRoom::divide(400 * kMiB, 4, {&usual}).streams == 4);
  CHECK(UnpackRoom::divide(0, 4, {&usual}).bytes == 8 * kMiB);
  const UnpackRoom room = UnpackRoom::divide(300 * kMiB, 4, {&usual, &wide});
  CHECK(room.streams == 2);  // 300 / 128
  CHECK(room.bytes == 150 * kMiB);
  CHECK(UnpackRoom::divide(100 * kMiB, 4, {&wide}).streams == 1);
}

TEST_CASE("compressed empty files have no content", "[actors][source]") {
  CHECK(decode(test::gzip(""), Codec::kGzip).value().empty());
  CHECK(decode(test::gzip("") + test::gzip("") + test::gzip("x"), Codec::kGzip).value() == "x");
  CHECK(decode(test::zstd(""), Codec::kZstd).value().empty());
  CHECK(decode(test::zstd("") + test::zstd("x"), Codec::kZstd).value() == "x");
}

TEST_CASE("a compressed file cut off anywhere is refused", "[actors][source]") {
  const std::string content = test::random_lines(22, 30'000);
  const std::string gzip = test::gzip(content) + test::gzip("x");
  const std::string zstd = test::zstd(content) + test::zstd("x");
  const std::size_t gzip_whole = test::gzip(content).size();
  const std::size_t zstd_whole = test::zstd(content).size();
  Random random(23);
  for (int i = 0; i < 60; ++i) {
    const std::size_t cut = i < 20 ? 1 + static_cast<std::size_t>(i) : 1 + random.below(20'000);
    INFO("cut off: " << cut);
    const std::size_t gzip_left = gzip.size() - cut % gzip.size();
    if (gzip_left != gzip.size() && gzip_left != gzip_whole) {
      CHECK(mentions(refusal(gzip.substr(0, gzip_left), Codec::kGzip), "it ends too early"));
    }
    const std::size_t zstd_left = zstd.size() - cut % zstd.size();
    if (zstd_left != zstd.size() && zstd_left != zstd_whole) {
      CHECK(mentions(refusal(zstd.substr(0, zstd_left), Codec::kZstd), "it ends too early"));
    }
  }
}

TEST_CASE("a damaged byte is found", "[actors][source]") {
  const std::string content = test::random_lines(24, 30'000);
  Random random(25);
  for (int i = 0; i < 40; ++i) {
    std::string gzip = test::gzip(content);
    // A byte after the header, because gzip ignores some bytes of the header.
    const std::size_t at = 10 + random.below(gzip.size() - 10);
    gzip[at] = static_cast<char>(gzip[at] ^ (1 << random.below(8)));
    INFO("byte " << at);
    CHECK(mentions(refusal(gzip, Codec::kGzip), "/x "));
  }
}

TEST_CASE("bytes after gzip data are refused, except padding", "[actors][source]") {
  const std::string gzip = test::gzip("content");
  const std::string where = "is damaged at byte " + std::to_string(gzip.size());
  CHECK(mentions(refusal(gzip + "garbage", Codec::kGzip), where));
  CHECK(mentions(refusal(gzip + "garbage", Codec::kGzip), "after its gzip data comes something"));
  CHECK(mentions(refusal(gzip + "\x1f garbage", Codec::kGzip), "is damaged at byte"));
  CHECK(decode(gzip + std::string(300'000, '\0'), Codec::kGzip).value() == "content");
  CHECK(mentions(refusal(gzip + std::string(9, '\0') + gzip, Codec::kGzip),
                 "is damaged at byte " + std::to_string(gzip.size() + 9)));
}

TEST_CASE("bytes after zstd data are refused", "[actors][source]") {
  CHECK(mentions(refusal(test::zstd("content") + "garbage", Codec::kZstd), "is damaged at byte"));
}

TEST_CASE("gzip has a restart point about every MiB, zstd at its frames", "[actors][source]") {
  const std::string content = test::random_lines(26, 5'000'000);
  CountingLog log;
  std::uint64_t furthest = 0;
  SECTION("one member") {
    REQUIRE(decode(test::gzip(content), Codec::kGzip, 50'000, &log));
    furthest = 1'300'000;
    CHECK(log.points.size() >= 3);
    for (const RestartPoint& point : log.points) CHECK(point.kind == RestartPoint::Kind::kInside);
  }
  SECTION("many members") {
    REQUIRE(decode(test::gzip_members(content, 20'000), Codec::kGzip, 50'000, &log));
    furthest = 1'100'000;
  }
  SECTION("frames") {
    REQUIRE(decode(test::zstd_frames(content, 100'000), Codec::kZstd, 50'000, &log));
    furthest = 300'001;
    CHECK(log.points.size() >= 16);
  }
  std::uint64_t last = 0;
  for (const RestartPoint& point : log.points) {
    CHECK(point.out - last <= furthest);
    last = point.out;
  }
  CHECK(content.size() - last <= furthest);
}

}  // namespace
}  // namespace forebay
