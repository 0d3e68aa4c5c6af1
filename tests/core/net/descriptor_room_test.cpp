#include <chrono>
#include <cstddef>

#include "core/net/zmq/zmq_listener.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

// The number of free descriptors that the test reports; a plain function returns it and counts
// calls.
std::size_t left = 0;
int counted = 0;
std::size_t count_left() {
  ++counted;
  return left;
}

TEST_CASE("peers are admitted while descriptors are left beside those kept for files",
          "[core][net]") {
  DescriptorRoom room(32, &count_left);
  const auto look = [&](std::size_t now_left) {
    left = now_left;
    room.look(0s, 1);
  };
  look(32);
  CHECK(room.admits());
  look(31);
  CHECK_FALSE(room.admits());
  CHECK_FALSE(room.is_short());  // Enough are left to refuse a peer with a reason.
  look(9);                       // below 32 x 5 / 16
  CHECK(room.is_short());
  look(10);
  CHECK_FALSE(room.is_short());
  look(11);
  CHECK_FALSE(room.is_calm());
  look(12);  // 32 x 3 / 8
  CHECK(room.is_calm());
}

TEST_CASE("descriptors are counted once a second, or when connections came and few are left",
          "[core][net]") {
  DescriptorRoom room(32, &count_left);
  left = 100;
  counted = 0;
  room.look(0s, 0);
  room.look(500ms, 35);  // 65 may be left, above 2 x 32
  CHECK(counted == 1);
  room.look(600ms, 1);
  CHECK(counted == 2);
  left = 10;
  room.look(1500ms, 0);
  CHECK(room.admits());
  room.look(1600ms, 0);
  CHECK_FALSE(room.admits());
}

TEST_CASE("without descriptors kept for files peers are always admitted", "[core][net]") {
  DescriptorRoom room(0, &count_left);
  counted = 0;
  room.look(5s, 1000);
  CHECK(room.admits());
  CHECK(room.is_calm());
  CHECK_FALSE(room.is_short());
  CHECK(counted == 0);
}

}  // namespace
}  // namespace forebay
