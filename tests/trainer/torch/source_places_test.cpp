#include "trainer/torch/c10d_quirks.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("a message leaves out only places in a library's sources", "[trainer]") {
  CHECK(without_source_places("refused: [../third_party/gloo/transport/tcp/pair.cc:598] Connection "
                              "closed by peer [127.0.0.1]:3412") ==
        "refused: Connection closed by peer [127.0.0.1]:3412");
  CHECK(without_source_places("[a.cpp:1][b.cc:22] both") == "both");
  for (const char* other : {"", "[", "plain", "[127.0.0.1]:80", "[::1]:80", "[a.cc] x", "[a.cc:] x",
                            "[a.cc:x] x", "[3 of 4.cc", "shape [2, 3]"}) {
    CHECK(without_source_places(other) == other);
  }
}

}  // namespace
}  // namespace forebay
