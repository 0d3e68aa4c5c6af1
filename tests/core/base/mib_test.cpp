#include "core/base/text/mib.h"

#include <limits>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("bytes in MiB are rounded up, so that a limit of that size is enough", "[core][mib]") {
  CHECK(in_mib(0) == "0 MiB");
  CHECK(in_mib(1) == "1 MiB");
  CHECK(in_mib(1 << 20) == "1 MiB");
  CHECK(in_mib((1 << 20) + 1) == "2 MiB");
  CHECK(as_mib_value((3 << 20) - 1) == "3MiB");
  // 2^64 - 1 bytes are 2^44 MiB less one byte.
  CHECK(in_mib(std::numeric_limits<std::uint64_t>::max()) == "17592186044416 MiB");
}

}  // namespace forebay
