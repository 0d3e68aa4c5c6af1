#include <fstream>

#include "tests/support/temp_dir.h"
#include "tuner/agent/agent.h"
#include "tuner/agent/network.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr Network::Shape kSaved{.inputs = 3, .hidden = 4, .outputs = 2};

std::span<const unsigned char> bytes(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

std::string small_file() {
  Random random(1);
  return encode_weights(Network(kSaved, random));
}

TEST_CASE("weights come back bit for bit", "[tuner][agent]") {
  Random random(1);
  const Network network(kSaved, random);
  const auto again = decode_weights(bytes(encode_weights(network)), kSaved, "w");
  REQUIRE(again);
  CHECK(again->weights() == network.weights());
}

TEST_CASE("weights that are too small to matter are read as zeros", "[tuner][agent]") {
  Random random(1);
  Network network(kSaved, random);
  network.weights()[2] = 2e-38F;
  network.weights()[3] = -1e-40F;
  network.weights()[5] = 1e-20F;
  const auto read = decode_weights(bytes(encode_weights(network)), kSaved, "w");
  REQUIRE(read);
  network.weights()[2] = network.weights()[3] = 0;
  CHECK(read->weights() == network.weights());
}

TEST_CASE("the weights of this build are usable", "[tuner][agent]") {
  CHECK(decode_weights(shipped_weights(), kNetworkShape, "shipped"));
}

TEST_CASE("damaged weights are refused by name, wherever a bit was turned", "[tuner][agent]") {
  const std::string whole = small_file();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto read = decode_weights(bytes(damaged), kSaved, "some.weights");
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("some.weights") == 0);
  }
}

TEST_CASE("weights cut short, too long or of another network are refused", "[tuner][agent]") {
  const std::string whole = small_file();
  CHECK_FALSE(decode_weights(bytes(whole.substr(0, whole.size() - 1)), kSaved, "w"));
  CHECK_FALSE(decode_weights(bytes(whole.substr(0, 3)), kSaved, "w"));
  CHECK_FALSE(decode_weights(bytes(whole + "x"), kSaved, "w"));
  const auto other = decode_weights(bytes(whole), {3, 4, 3}, "w");
  REQUIRE_FALSE(other);
  CHECK(other.error().message.find("another network") != std::string::npos);
}

TEST_CASE("weights of another version are refused by their version", "[tuner][agent]") {
  std::string newer = small_file();
  newer[7] = '2';
  const auto read = decode_weights(bytes(newer), kSaved, "w");
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("another version") != std::string::npos);
}

}  // namespace
}  // namespace forebay::tuner
