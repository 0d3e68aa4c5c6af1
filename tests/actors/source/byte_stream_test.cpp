#include "actors/source/byte_stream.h"

#include <cstdint>
#include <string>
#include <vector>

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

// All of the content, read in pieces of `piece` bytes, or the refusal.
Result<std::string> decode(const std::string& stored, Codec codec, std::size_t piece = 10'000,
                           RestartLog* log = nullptr) {
  TempDir folder;
  auto file = InputFile::open(folder.write("x", stored));
  REQUIRE(file);
  auto stream = open_stream(*file, codec, {}, log);
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

TEST_CASE("packed files of nothing hold nothing", "[actors][source]") {
  CHECK(decode(test::gzip(""), Codec::kGzip).value().empty());
  CHECK(decode(test::gzip("") + test::gzip("") + test::gzip("x"), Codec::kGzip).value() == "x");
  CHECK(decode(test::zstd(""), Codec::kZstd).value().empty());
  CHECK(decode(test::zstd("") + test::zstd("x"), Codec::kZstd).value() == "x");
}

TEST_CASE("a packed file that ends too early is refused wherever that is", "[actors][source]") {
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
    // Past the header, of which gzip itself ignores some bytes.
    const std::size_t at = 10 + random.below(gzip.size() - 10);
    gzip[at] = static_cast<char>(gzip[at] ^ (1 << random.below(8)));
    INFO("byte " << at);
    CHECK(mentions(refusal(gzip, Codec::kGzip), "/x "));
  }
}

TEST_CASE("what comes after gzip data is refused, but for padding", "[actors][source]") {
  const std::string gzip = test::gzip("content");
  const std::string where = "is damaged at byte " + std::to_string(gzip.size());
  CHECK(mentions(refusal(gzip + "garbage", Codec::kGzip), where));
  CHECK(mentions(refusal(gzip + "garbage", Codec::kGzip), "after its gzip data comes something"));
  CHECK(mentions(refusal(gzip + "\x1f garbage", Codec::kGzip), "is damaged at byte"));
  CHECK(decode(gzip + std::string(300'000, '\0'), Codec::kGzip).value() == "content");
  CHECK(mentions(refusal(gzip + std::string(9, '\0') + gzip, Codec::kGzip),
                 "is damaged at byte " + std::to_string(gzip.size() + 9)));
}

TEST_CASE("what comes after zstd data is refused", "[actors][source]") {
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
