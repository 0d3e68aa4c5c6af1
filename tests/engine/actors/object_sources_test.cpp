#include "engine/actors/objects/object_sources.h"

#include <string>

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Holders 1 to `count`, reached at "1" and so on.
ObjectSources holders(int count) {
  ObjectSources sources;
  for (int i = 1; i <= count; ++i) sources.add(ActorId(i), std::to_string(i));
  return sources;
}

}  // namespace

TEST_CASE("holders that fetch an object form a chain", "[actors][objects]") {
  ObjectSources sources = holders(4);
  CHECK(sources.choose(ActorId(3), "").empty());  // the owner
  CHECK(sources.choose(ActorId(1), "") == "3");
  CHECK(sources.choose(ActorId(4), "") == "1");
  sources.complete(ActorId(4));
  CHECK(sources.choose(ActorId(2), "") == "1");  // 1 and 4 serve no other now
}

TEST_CASE("a holder without an address serves nobody", "[actors][objects]") {
  ObjectSources sources = holders(1);
  sources.add(ActorId(7), "");
  CHECK(sources.choose(ActorId(7), "").empty());
  CHECK(sources.choose(ActorId(1), "").empty());
}

TEST_CASE("a source that failed is not named again, nor one that depends on the asker",
          "[actors][objects]") {
  ObjectSources sources = holders(4);
  CHECK(sources.choose(ActorId(1), "").empty());
  CHECK(sources.choose(ActorId(2), "") == "1");
  CHECK(sources.choose(ActorId(3), "") == "2");
  CHECK(sources.choose(ActorId(2), "1").empty());  // 3 waits for what 2 will have
  CHECK(sources.choose(ActorId(3), "2") == "1");
  CHECK(sources.choose(ActorId(3), "1").empty());
  sources.complete(ActorId(3));
  CHECK(sources.choose(ActorId(2), "") == "3");  // complete: it depends on no source
}

TEST_CASE("a holder that is gone is no source", "[actors][objects]") {
  ObjectSources sources = holders(2);
  CHECK(sources.choose(ActorId(1), "").empty());
  sources.remove(ActorId(1));
  CHECK(sources.choose(ActorId(2), "").empty());
  CHECK_FALSE(sources.empty());
  sources.remove(ActorId(2));
  CHECK(sources.empty());
}

}  // namespace forebay
