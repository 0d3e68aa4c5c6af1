#include "core/data/digest.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a digest is XXH3-128", "[core][digest]") {
  // The published value of XXH3-128 for no input, seed 0.
  CHECK(Digest::of("", 0).hex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("parts digest as the bytes laid end to end", "[core][digest]") {
  const std::string text = "label values lengths ids";
  CHECK(Digest::of_parts(
            {{text.data(), 6}, {text.data() + 6, 0}, {text.data() + 6, text.size() - 6}}) ==
        Digest::of(text.data(), text.size()));
}

TEST_CASE("a chain depends on the order of its links", "[core][digest]") {
  const Digest a = Digest::of("a", 1);
  const Digest b = Digest::of("b", 1);
  CHECK(Digest{}.then(a).then(b) != Digest{}.then(b).then(a));
}

TEST_CASE("hex digits read back, anything else is refused", "[core][digest]") {
  const Digest digest{0x0123456789abcdef, 0xfedcba9876543210};
  CHECK(digest.hex() == "0123456789abcdeffedcba9876543210");
  Digest read;
  REQUIRE(Digest::parse(digest.hex(), read));
  CHECK(read == digest);
  CHECK_FALSE(Digest::parse("0123", read));
  CHECK_FALSE(Digest::parse("0123456789abcdefg" + std::string(15, '0'), read));
}

}  // namespace
}  // namespace forebay
