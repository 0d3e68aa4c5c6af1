#include "core/base/text/counted.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("one thing is named in the singular, any other number of it in the plural",
          "[core][counted]") {
  CHECK(format_counted(1, "file") == "1 file");
  CHECK(format_counted(0, "file") == "0 files");
  CHECK(format_counted(1200, "batch", "batches") == "1,200 batches");
}

}  // namespace forebay
