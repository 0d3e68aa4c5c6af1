#include "core/base/all_bytes.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TEST_CASE("all bytes are written, and read from any place up to the file's end",
          "[core][all_bytes]") {
  const test::TempDir dir;
  const Descriptor file(::open(dir.path("file").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(write_all(file.number(), "abc"));
  REQUIRE(write_all(file.number(), "defg"));
  std::array<std::byte, 5> into{};
  const auto text = [&] { return std::string(reinterpret_cast<const char*>(into.data()), 5); };
  CHECK(read_all_at(file.number(), into, 1) == 5);
  CHECK(text() == "bcdef");
  CHECK(read_all_at(file.number(), into, 5) == 2);
  CHECK(text().starts_with("fg"));
  CHECK(read_all_at(file.number(), into, 7) == 0);
  CHECK_FALSE(write_all(-1, "a"));
  CHECK(read_all_at(-1, into, 0) == -1);
}

TEST_CASE("bytes written at an offset replace those there, and leave where the next write goes",
          "[core][all_bytes]") {
  const test::TempDir dir;
  const Descriptor file(::open(dir.path("file").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(write_all(file.number(), "abcdef"));
  REQUIRE(write_all_at(file.number(), bytes_of("XY"), 2));
  REQUIRE(write_all_at(file.number(), bytes_of("Z"), 8));
  REQUIRE(write_all(file.number(), "gh"));
  std::array<std::byte, 10> into{};
  CHECK(read_all_at(file.number(), into, 0) == 9);
  CHECK(std::string(reinterpret_cast<const char*>(into.data()), 9) == "abXYefghZ");
  CHECK_FALSE(write_all_at(-1, bytes_of("a"), 0));
  CHECK(errno == EBADF);
  CHECK(write_all_at(-1, {}, 0));
}

}  // namespace forebay
