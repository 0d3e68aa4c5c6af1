#include <cmath>

#include "tuner/agent/agent.h"
#include "tuner/agent/pretrain.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

TEST_CASE("an experiment is the same whenever it is made", "[tuner][agent]") {
  const Network network(kNetworkShape);
  const auto once = experiment(7, network);
  const auto again = experiment(7, network);
  REQUIRE(once.size() > 10);
  REQUIRE(once.size() == again.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(once[i].advantage == again[i].advantage);
    CHECK(once[i].rows == again[i].rows);
  }
}

TEST_CASE("experiments show what is worth avoiding", "[tuner][agent]") {
  const Network network(kNetworkShape);
  double fewer = 0;
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const Lesson& lesson : experiment(seed, network)) {
      CHECK(std::isfinite(lesson.advantage));
      if (lesson.output != 0) continue;
      fewer += lesson.advantage;
      ++count;
    }
  }
  CHECK(fewer / count < -1);  // five actors fewer than the model plans cost more than one per cent
}

TEST_CASE("the same options make the same weights, however many threads", "[tuner][agent]") {
  PretrainOptions options{.rounds = 2, .experiments = 3, .passes = 2, .threads = 1};
  const Network one = pretrain(options);
  options.threads = 3;
  CHECK(pretrain(options).weights() == one.weights());
  options.seed = 2;
  CHECK(pretrain(options).weights() != one.weights());
}

}  // namespace
}  // namespace forebay::tuner
