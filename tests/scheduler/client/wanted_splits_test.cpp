#include "scheduler/client/wanted_splits.h"

#include <memory>

#include "core/runtime/actor.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;
using Splits = std::vector<std::uint64_t>;
using State = WantedSplits::Split::State;

class AnyHolder final : public ActorOf<AnyHolder, Pull, Drop> {
 public:
  Status on(const Pull&, Context&) { return {}; }
  Status on(const Drop&, Context&) { return {}; }
};

struct WantedFixture {
  test::TestHost host;
  WantedSplits wanted{12s};

  AnyHolder::Ref holder() {
    return host.spawn({.name = "holder"}, [] { return std::make_unique<AnyHolder>(); });
  }
  void issue(const Splits& splits, WantedSplits::Time now = 0s) {
    for (const std::uint64_t split : splits) REQUIRE(wanted.issue(split, now));
  }
  void pull(std::uint64_t split, WantedSplits::Time now = 0s) {
    wanted.missing(split)->state = State::kPulling;
    wanted.missing(split)->since = now;
  }
};

TEST_CASE_METHOD(WantedFixture, "a split is wanted once, until it has arrived",
                 "[scheduler][client]") {
  issue({4, 5, 7});
  CHECK_FALSE(wanted.issue(5, 0s));
  CHECK(wanted.missing(6) == nullptr);
  CHECK(wanted.arrived(5, 1s).empty());
  CHECK(wanted.missing(5) == nullptr);
  CHECK_FALSE(wanted.issue(5, 1s));
  CHECK(wanted.arrived() == Splits{5});
  CHECK(wanted.ranges() == std::vector<SplitRange>{{4, 5}, {7, 7}});
  CHECK(wanted.below(7) == Splits{4, 5});
  wanted.forget(5);
  CHECK(wanted.arrived().empty());
}

TEST_CASE_METHOD(WantedFixture, "at most four workers are remembered for a split",
                 "[scheduler][client]") {
  issue({1});
  const AnyHolder::Ref first = holder();
  CHECK(wanted.announced(*wanted.missing(1), first));
  CHECK_FALSE(wanted.announced(*wanted.missing(1), first));
  for (int i = 0; i < 3; ++i) CHECK(wanted.announced(*wanted.missing(1), holder()));
  CHECK_FALSE(wanted.announced(*wanted.missing(1), holder()));
  CHECK(wanted.arrived(1, 0s).size() == 4);
}

TEST_CASE_METHOD(WantedFixture,
                 "only a split that was being pulled from a lost worker is pulled anew",
                 "[scheduler][client]") {
  issue({1, 2, 3});
  const AnyHolder::Ref lost = holder();
  const AnyHolder::Ref other = holder();
  for (const std::uint64_t split : {1, 3}) wanted.announced(*wanted.missing(split), lost);
  wanted.announced(*wanted.missing(2), other);
  wanted.announced(*wanted.missing(2), lost);
  pull(1);
  pull(2);
  CHECK(wanted.lose(lost.id()) == Splits{1});
  CHECK(wanted.missing(3)->holders.empty());
  CHECK(wanted.missing(2)->is_pulled_from(other.id()));
}

TEST_CASE_METHOD(WantedFixture, "a split on its way is late before one that is being made",
                 "[scheduler][client]") {
  issue({1, 2});
  pull(2, 0s);
  CHECK(wanted.late_pulls(11s).empty());
  CHECK(wanted.late_pulls(12s) == Splits{2});
  CHECK(wanted.describe_late(4s).empty());
  CHECK(wanted.describe_late(5s) == "split 2 has been on its way for 5.0 s");
  CHECK(wanted.describe_late(13s) == "split 1 was not announced by any worker for 13 s");
}

TEST_CASE_METHOD(WantedFixture, "silence is reported when no split is late by itself",
                 "[scheduler][client]") {
  issue({1, 2});
  wanted.arrived(1, 2s);
  wanted.missing(2)->since = 6s;
  CHECK(wanted.describe_late(8s).empty());
  CHECK(wanted.describe_late(9s) ==
        "no split has come for 7.0 s: split 2 was not announced by any worker for 3.0 s");
  SplitClientStatus status;
  wanted.count(status);
  CHECK(status.issued == 1);
  CHECK(status.arrived == 1);
}

}  // namespace
}  // namespace forebay::scheduler
