#include "scheduler/worker/held_splits.h"

#include <set>

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;

/// Records the splits that it has to make.
struct RecordingExecutor final : SplitExecutor {
  std::set<std::uint64_t> making, started;

  void open(const JobShare&, std::uint64_t) override {}
  void begin(std::uint64_t split) override { making.insert(split); }
  bool forget(std::uint64_t split) override { return making.erase(split) > 0; }
  bool begun(std::uint64_t split) const override { return started.contains(split); }
  std::uint32_t slots() const override { return 4; }
  Load load() override { return {}; }
};

TEST_CASE("only splits in the making are cancelled at the executor", "[scheduler][worker]") {
  RecordingExecutor executor;
  HeldSplits held(executor);
  for (const std::uint64_t split : {1, 2, 3}) held.begin(split);
  CHECK(held.made({.opening = 1, .split = 9, .frames = {}}) == nullptr);
  REQUIRE(held.made({.opening = 1, .split = 2, .frames = {}, .handed_on = true}) != nullptr);
  CHECK(held.find(2)->handed_on);
  CHECK(held.made({.opening = 1, .split = 2, .frames = {}}) == nullptr);
  executor.started = {1};
  CHECK(held.unmade() == Splits{1, 3});
  CHECK(held.unmade(/*unbegun=*/true) == Splits{3});
  held.forget({2, 3, 9});
  CHECK(executor.making == std::set<std::uint64_t>{1, 2});
  CHECK(held.numbers() == Splits{1});
  CHECK(held.find(2) == nullptr);
  held.forget_all();
  CHECK(held.empty());
  CHECK(executor.making == std::set<std::uint64_t>{2});
}

TEST_CASE("made splits without an answer are announced again", "[scheduler][worker]") {
  using State = HeldSplits::State;
  RecordingExecutor executor;
  HeldSplits held(executor);
  const State states[] = {State::kMaking, State::kReady, State::kPulled, State::kSent};
  for (std::uint64_t split = 0; split < 4; ++split) {
    held.begin(split);
    held.find(split)->state = states[split];
    held.find(split)->told = 5s;
  }
  CHECK(held.to_announce_again(6s, 2s).empty());
  CHECK(held.to_announce_again(7s, 2s) == Splits{1, 3});
  CHECK(held.pulled() == Splits{2});
}

}  // namespace
}  // namespace forebay::scheduler
