#include "scheduler/head/members.h"

#include <memory>

#include "core/runtime/actor.h"
#include "scheduler/head/head_options.h"
#include "tests/support/test_host.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;

/// A worker that takes all messages.
class AnyWorker final : public ActorOf<AnyWorker, Lease, Revoke, JobEnded, Evicted, JobOffer> {
 public:
  template <class M>
  Status on(const M&, Context&) {
    return {};
  }
};

struct MembersFixture {
  HeadOptions options;
  Members members;
  test::TestHost host;
  const AnyWorker::Ref worker =
      host.spawn({.name = "worker"}, [] { return std::make_unique<AnyWorker>(); });

  MembersFixture() {
    options.version = "1";
    options.operators = "o";
    options.trainer_host = "t";
    options.trainer_pid = 7;
  }
  Join join(const std::string& name) const {
    Join join;
    join.version = "1";
    join.operators = "o";
    join.name = name;
    join.host = "t";
    join.worker = worker;
    return join;
  }
  Code refusal(const Join& join, Members::Time now = 0s) const {
    const Status status = members.check(join, options, now, "");
    REQUIRE_FALSE(status);
    return status.error().code;
  }
};

TEST_CASE("a rate is the mean of the last seconds", "[scheduler]") {
  using namespace std::chrono_literals;
  RateMeter meter;
  meter.update(0, 0s);
  CHECK(meter.update(0, 2s) == 0);  // It has made no split yet, so its rate is unknown.
  CHECK(meter.update(40, 4s) == 20);
  double rate = 0;
  for (int second = 5; second < 40; ++second) {
    rate = meter.update(40 + static_cast<std::uint64_t>(second - 4) * 10,
                        std::chrono::seconds(second));
  }
  CHECK(rate == Approx(10).epsilon(0.01));
  CHECK(meter.update(0, 41s) == Approx(10).epsilon(0.01));  // It started anew.
}

TEST_CASE_METHOD(MembersFixture, "a node of another version or kind may not join", "[scheduler]") {
  CHECK(members.check(join("w"), options, 0s, ""));
  CHECK(refusal(join("a/b")) == Code::kInvalid);
  for (auto change :
       {+[](Join& join) { join.protocol = 99; }, +[](Join& join) { join.version = "2"; },
        +[](Join& join) { join.operators = "p"; }, +[](Join& join) { join.worker = {}; }}) {
    Join other = join("w");
    change(other);
    CHECK(refusal(other) == Code::kInvalid);
  }
  options.version.clear();
  options.operators.clear();
  Join any = join("w");
  any.version = any.operators = "";
  CHECK(members.check(any, options, 0s, ""));
}

TEST_CASE_METHOD(MembersFixture, "a living worker keeps its name", "[scheduler]") {
  members.add(1, join("w"), options, 10s);
  Join other = join("w");
  other.pid = 2;
  CHECK(refusal(other, 10s) == Code::kOverloaded);
  CHECK(members.check(other, options, 10s + 3 * options.heartbeat, ""));
  other.pid = 0;  // The same process joins again.
  CHECK(members.check(other, options, 10s, ""));
}

TEST_CASE_METHOD(MembersFixture, "a member refused for the open job leaves its name to that job",
                 "[scheduler]") {
  members.add(1, join("w"), options, 10s);
  Join of_job = join("w");
  of_job.pid = 2;
  of_job.job = "a";
  CHECK_FALSE(members.check(of_job, options, 10s, "a"));
  members.find(1)->node.state = NodeStatus::State::kRefused;
  CHECK(members.check(of_job, options, 10s, "a"));
  CHECK_FALSE(members.check(of_job, options, 10s, "b"));
  of_job.job.clear();
  CHECK_FALSE(members.check(of_job, options, 10s, ""));
}

TEST_CASE_METHOD(MembersFixture, "a refusal is new once for each name and reason", "[scheduler]") {
  CHECK(members.is_new_refusal("w", "a"));
  CHECK_FALSE(members.is_new_refusal("w", "a"));
  CHECK(members.is_new_refusal("w", "b"));
  members.add(1, join("w"), options, 0s);
  CHECK(members.is_new_refusal("w", "b"));
}

TEST_CASE_METHOD(MembersFixture, "a member is as near as its host and process", "[scheduler]") {
  Join other = join("v");
  other.host = "elsewhere";
  Join same = join("u");
  same.pid = 7;
  members.add(1, join("w"), options, 0s);
  members.add(2, other, options, 0s);
  members.add(3, same, options, 0s);
  CHECK(members.find(1)->distance == Distance::kSameHost);
  CHECK(members.find(2)->distance == Distance::kElsewhere);
  CHECK(members.find("u")->distance == Distance::kSameProcess);
}

TEST_CASE_METHOD(MembersFixture,
                 "silent members are lost, those that hung up without a job have left",
                 "[scheduler]") {
  members.awaited()["w"] = 0s;
  for (const std::uint64_t incarnation : {1, 2, 3}) {
    members.add(incarnation, join("w" + std::to_string(incarnation)), options, 0s);
  }
  CHECK(members.awaited().size() == 1);
  members.heard(*members.find(2), {.incarnation = 2, .slots = 4, .holds = {}}, 8s);
  members.find(3)->gone = true;
  CHECK(members.active(2) != nullptr);
  CHECK(members.active(3) == nullptr);
  const auto losses = members.losses(10s, 5s, /*job_is_open=*/false);
  REQUIRE(losses.size() == 2);
  CHECK(losses[0].incarnation == 1);
  CHECK(losses[0].how == Members::Gone::kLost);
  CHECK(losses[1].how == Members::Gone::kLeft);
  CHECK(members.losses(10s, 5s, /*job_is_open=*/true)[1].how == Members::Gone::kLost);
  members.remove(losses[0]);
  CHECK(members.find(1) == nullptr);
  CHECK(members.last_gone() == "worker w1 was lost: silent for 10 s");
  members.find(2)->node.state = NodeStatus::State::kRefused;
  members.forget_job();
  CHECK(members.last_gone().empty());
  CHECK(members.awaited().empty());
  CHECK(members.find(2)->node.state == NodeStatus::State::kJoined);
}

TEST_CASE("the mean worker is one that makes splits and is not the trainer's own", "[scheduler]") {
  Members members;
  const auto add = [&members](std::uint64_t incarnation, double rate, Distance distance) {
    members.all()[incarnation].node.rate = rate;
    members.all()[incarnation].distance = distance;
  };
  CHECK(members.mean_remote_rate() == 0);
  add(1, 50, Distance::kSameProcess);
  add(2, 10, Distance::kElsewhere);
  add(3, 20, Distance::kSameHost);
  add(4, 0, Distance::kElsewhere);
  CHECK(members.mean_remote_rate() == 15);
  CHECK(members.rate() == 80);
}

}  // namespace
}  // namespace forebay::scheduler
