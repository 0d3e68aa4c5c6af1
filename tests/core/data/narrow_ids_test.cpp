#include <limits>
#include <vector>

#include "core/base/random.h"
#include "core/data/column_set.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Ids = std::vector<std::int64_t>;

TEST_CASE("the width follows the highest bit that any id has", "[core][narrow_ids]") {
  const auto width = [](const Ids& ids) { return width_for_bits(bits_of(ids.data(), ids.size())); };
  CHECK(width({}) == IdWidth::k1);
  CHECK(width({0, 255}) == IdWidth::k1);
  CHECK(width({256}) == IdWidth::k2);
  CHECK(width({65535, 0}) == IdWidth::k2);
  CHECK(width({65536}) == IdWidth::k4);
  CHECK(width({0xffffffff}) == IdWidth::k4);
  CHECK(width({0x100000000}) == IdWidth::k8);
  CHECK(width({1, -1}) == IdWidth::k8);
}

TEST_CASE("ids come back from every width that holds them, at any alignment",
          "[core][narrow_ids]") {
  Random random(1);
  for (const IdWidth width : {IdWidth::k1, IdWidth::k2, IdWidth::k4, IdWidth::k8}) {
    const auto bytes = static_cast<unsigned>(width);
    for (std::size_t count = 0; count < 70; ++count) {
      Ids ids(count);
      for (auto& id : ids) id = static_cast<std::int64_t>(random.next() >> (64 - 8 * bytes));
      // From an odd address on; one byte more, to see that nothing is written behind the end.
      std::vector<std::byte> narrow(1 + count * bytes + 1, std::byte{0x5a});
      CHECK(narrow_ids(ids.data(), count, width, narrow.data() + 1) == bits_of(ids.data(), count));
      CHECK(narrow.back() == std::byte{0x5a});
      Ids back(count, -7);
      widen_ids(narrow.data() + 1, width, count, back.data());
      CHECK(back == ids);
    }
  }
}

TEST_CASE("an id that does not fit shows in the bits that are returned", "[core][narrow_ids]") {
  const Ids ids{3, 256};
  std::byte narrow[2];
  CHECK(width_for_bits(narrow_ids(ids.data(), 2, IdWidth::k1, narrow)) == IdWidth::k2);
}

}  // namespace
}  // namespace forebay
