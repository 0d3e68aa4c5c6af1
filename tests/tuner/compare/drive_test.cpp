#include "tuner/compare/drive.h"

#include <stdexcept>

#include "tests/tuner/compare/fake_machine.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;
using Actors = std::vector<std::uint32_t>;

class Thrower final : public Policy {
 public:
  std::string_view name() const override { return "thrower"; }
  Proposal decide(const Observation&) override { throw std::runtime_error("no idea"); }
};

std::unique_ptr<Policy> wants(Actors actors) {
  return std::make_unique<FixedProposal>(Allocation{std::move(actors), 1});
}

DriveOptions options_of(std::uint64_t decisions, bool guarded) {
  DriveOptions options;
  options.decisions = decisions;
  options.guarded = guarded;
  return options;
}

TEST_CASE("decision k is taken after k periods, and its own period is judged", "[tuner][compare]") {
  FakeMachine machine;
  const DriveRecord record = drive(machine, wants({3, 4}), options_of(4, false));
  const auto& periods = record.trace.periods;
  REQUIRE(periods.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(periods[k].decision == k);
    CHECK(periods[k].begin_seconds == 2.0 * static_cast<double>(k));
    CHECK(periods[k].end_seconds == periods[k].begin_seconds + 2);
  }
  CHECK(periods[0].trained == 2);  // one actor each: 1 split/s
  CHECK(periods[0].cpus_busy == Approx(2));
  CHECK(periods[1].trained == 6);  // 3 and 4: 3 splits/s
  CHECK(periods[1].cpus_busy == Approx(7));
  CHECK(periods[1].actors == Actors{3, 4});
  CHECK(periods[1].memory_peak == 70);
  CHECK(machine.runs == 80);  // observed ten times a second
  CHECK_FALSE(record.trace.out_of_memory);
}

TEST_CASE("a period that took long is not caught up: the next one has its time",
          "[tuner][compare]") {
  FakeMachine machine;
  machine.late_in_run = 40;  // the end of the second period
  machine.late_seconds = 100;
  const DriveRecord record = drive(machine, wants({2, 2}), options_of(4, true));
  const auto& periods = record.trace.periods;
  REQUIRE(periods.size() == 4);
  CHECK(periods[1].end_seconds == 104);
  CHECK(periods[2].begin_seconds == 104);
  CHECK(periods[2].end_seconds == Approx(106));
  CHECK(periods[3].end_seconds == Approx(108));
}

TEST_CASE("the guard cuts a proposal that does not fit", "[tuner][compare]") {
  FakeMachine machine;
  const DriveRecord record = drive(machine, wants({50, 50}), options_of(4, true));
  CHECK_FALSE(record.trace.out_of_memory);
  CHECK(record.guarded == 4);
  CHECK(record.trace.periods.back().trained > 2);
}

TEST_CASE("a limit that falls between two decisions is obeyed within a tenth of a second",
          "[tuner][compare]") {
  FakeMachine machine;
  machine.lowered_at = 5.05;
  const DriveRecord record = drive(machine, wants({3, 4}), options_of(3, true));
  CHECK(machine.applied_at == Approx(5.1));
  CHECK(record.trace.periods.back().memory_bytes == 40);
}

TEST_CASE("without a guard a policy runs out of memory, and from then on nothing is trained",
          "[tuner][compare]") {
  FakeMachine machine;
  const DriveRecord record = drive(machine, wants({6, 6}), options_of(5, false));
  CHECK(record.trace.out_of_memory);
  CHECK(record.trace.out_of_memory_seconds == Approx(2.1));  // noticed at the next observation
  const auto& periods = record.trace.periods;
  REQUIRE(periods.size() == 5);
  CHECK(periods[1].memory_peak == 120);
  for (std::size_t k = 1; k < 5; ++k) {
    CHECK(periods[k].trained == 0);
    CHECK(periods[k].end_seconds == 2.0 * static_cast<double>(k) + 2);
  }
  CHECK(periods[4].actors == Actors{0, 0});
}

TEST_CASE("an invalid allocation is not applied, with or without the guard", "[tuner][compare]") {
  for (const bool guarded : {false, true}) {
    FakeMachine machine;
    const DriveRecord record = drive(machine, wants({5}), options_of(3, guarded));
    CHECK(record.faults == 3);
    CHECK(record.trace.periods.back().actors == Actors{1, 1});
  }
  FakeMachine machine;
  CHECK(drive(machine, wants({5, 0}), options_of(2, false)).faults == 2);
  auto nothing_ready = std::make_unique<FixedProposal>(Allocation{{2, 2}, 0});
  CHECK(drive(machine, std::move(nothing_ready), options_of(2, false)).faults == 2);
  CHECK(drive(machine, std::make_unique<Thrower>(), options_of(2, false)).faults == 2);
}

TEST_CASE("the fallback decides where a guarded policy fails", "[tuner][compare]") {
  FakeMachine machine;
  DriveOptions options = options_of(3, true);
  options.fallback = wants({2, 3});
  const DriveRecord record = drive(machine, std::make_unique<Thrower>(), std::move(options));
  CHECK(record.faults == 3);
  CHECK(record.trace.periods.back().actors == Actors{2, 3});
}

TEST_CASE("a stopped run is marked as stopped and keeps its figures", "[tuner][compare]") {
  FakeMachine machine;
  int asked = 0;
  DriveOptions options = options_of(60, true);
  options.stopped = [&] { return ++asked > 2; };
  const DriveRecord record = drive(machine, wants({2, 2}), std::move(options));
  CHECK(record.stopped);
  CHECK(record.trace.periods.size() == 2);
}

}  // namespace
}  // namespace forebay::tuner
