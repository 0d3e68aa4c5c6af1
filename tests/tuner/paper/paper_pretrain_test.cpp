#include "tuner/paper/paper_pretrain.h"

#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

TEST_CASE("an episode is the same whenever it is run", "[tuner][paper]") {
  const Network network(kPaperShape);
  const auto once = paper_episode(7, network);
  const auto again = paper_episode(7, network);
  REQUIRE(once.size() > 60);
  REQUIRE(once.size() == again.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(once[i].row == again[i].row);
    CHECK(once[i].advantages == again[i].advantages);
  }
}

TEST_CASE("a step of the slowest stage is worth more than one of the others", "[tuner][paper]") {
  const Network network(kPaperShape);
  double slowest = 0;
  double others = 0;
  double slowest_count = 0;
  double others_count = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const PaperSample& sample : paper_episode(seed, network)) {
      for (const float advantage : sample.advantages) CHECK(std::isfinite(advantage));
      const bool is_slowest = sample.row[0] > -0.01F;
      (is_slowest ? slowest : others) += sample.advantages[2];
      (is_slowest ? slowest_count : others_count) += 1;
    }
  }
  REQUIRE(slowest_count > 0);
  REQUIRE(others_count > 0);
  CHECK(slowest / slowest_count > others / others_count + 1);
}

TEST_CASE("the same options make the same weights of the paper's network, however many threads",
          "[tuner][paper]") {
  PaperPretrainOptions options{.rounds = 2, .episodes = 2, .passes = 1, .threads = 1};
  const Network one = paper_pretrain(options);
  options.threads = 3;
  CHECK(paper_pretrain(options).weights() == one.weights());
  options.seed = 2;
  CHECK(paper_pretrain(options).weights() != one.weights());
}

}  // namespace
}  // namespace forebay::tuner
