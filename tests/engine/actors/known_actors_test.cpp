#include "engine/actors/cluster/known_actors.h"

#include <memory>
#include <string>

#include "core/base/clock.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

struct Known {
  SystemClock clock;
  ActorSystem system{{}, clock};
  KnownActors actors{system.host()};

  UserRef reference() {
    return UserRef(std::make_shared<NamedActor>(system.host(), "reference", 0));
  }
  static PlacedActor placed(std::uint64_t birth, const std::string& node, std::uint64_t life) {
    return {.name = "a", .node = node, .address = "", .life = life, .birth = birth, .moves = 0};
  }
};

TEST_CASE("actors of one birth are the same one, wherever they are found", "[actors][cluster]") {
  Known known;
  const UserRef first = known.reference();
  const auto one = known.actors.place(Known::placed(7, "n1", 1), first);
  CHECK(one.is_new);
  CHECK_FALSE(known.actors.place(Known::placed(7, "n1", 1), first).is_new);
  const auto moved = known.actors.place(Known::placed(7, "n2", 1), known.reference());
  CHECK(moved.actor == one.actor);
  CHECK(moved.is_new);
  CHECK(known.actors.place(Known::placed(8, "n2", 1), known.reference()).actor != one.actor);
}

TEST_CASE("an actor is taken from a reference once, and only while the program refers to it",
          "[actors][cluster]") {
  Known known;
  const UserRef kept = known.reference();
  const UserRef dropped = known.reference();
  const auto actor = known.actors.place(Known::placed(7, "n1", 1), kept).actor;
  known.actors.place(Known::placed(8, "n1", 1), dropped);
  CHECK(known.actors.take(kept.id()) == actor);
  CHECK(known.actors.take(kept.id()) == nullptr);
  CHECK(known.actors.take(dropped.id()) == nullptr);
}

TEST_CASE("a lost node takes the actors of its lives up to the lost one", "[actors][cluster]") {
  Known known;
  const UserRef of_two = known.reference();
  const auto one = known.actors.place(Known::placed(1, "n1", 4), known.reference()).actor;
  const auto two = known.actors.place(Known::placed(2, "n1", 5), of_two).actor;
  const auto three = known.actors.place(Known::placed(3, "n2", 1), known.reference()).actor;
  const auto lost = known.actors.lose({.node = "n1", .last_life = 4});
  REQUIRE(lost.size() == 1);
  CHECK(lost.front() == one);
  CHECK(known.actors.is_lost(Known::placed(1, "n1", 4)));
  CHECK_FALSE(known.actors.is_lost(Known::placed(2, "n1", 5)));
  CHECK(known.actors.take(of_two.id()) == two);
}

}  // namespace
}  // namespace forebay
