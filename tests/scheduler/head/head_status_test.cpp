#include "scheduler/head/head_status.h"

#include <algorithm>

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;

struct StatusFixture {
  HeadOptions options;
  HeadState state;
  Members members;
  LeaseTable leases{options.lease};
  std::string store_error;
  HeadView head{.options = options,
                .state = state,
                .members = members,
                .leases = leases,
                .store_error = store_error,
                .split_client_gone_since = {},
                .no_worker_since = {},
                .now = 100s};

  void open_job() {
    const JobShare job{
        .id = "j", .text = "", .fingerprint = "", .splits_per_epoch = 8, .epochs = 2};
    REQUIRE(state.apply(JobOpening{job, 1, 3, {}}));
  }
  Member& add(std::uint64_t incarnation, NodeStatus::State its_state) {
    Member& member = members.all()[incarnation];
    member.node.name = "w" + std::to_string(incarnation);
    member.node.incarnation = incarnation;
    member.node.state = its_state;
    member.last_heard = head.now;
    return member;
  }
  std::vector<std::string> problems() const { return status_of(head).problems; }
};

using Problems = std::vector<std::string>;
using NodeState = NodeStatus::State;

TEST_CASE_METHOD(StatusFixture, "a head without a job has no problems", "[scheduler]") {
  CHECK(problems().empty());
}

TEST_CASE_METHOD(StatusFixture, "a status shows members with their leases", "[scheduler]") {
  open_job();
  add(1, NodeState::kPrepared).last_heard = head.now - 500ms;
  leases.issue(3);
  leases.issue(4);
  leases.lease(1, 1, head.now);
  const ClusterStatus status = status_of(head);
  CHECK(status.job == "j");
  CHECK(status.finished == 3);
  CHECK(status.waiting == 1);
  CHECK(status.prepared == 1);
  REQUIRE(status.nodes.size() == 1);
  CHECK(status.nodes[0].leases == 1);
  CHECK(status.nodes[0].silent_seconds == 0.5);
  CHECK(status.problems.empty());
}

TEST_CASE_METHOD(StatusFixture, "a job without a prepared worker says why", "[scheduler]") {
  open_job();
  head.no_worker_since = 98s;
  CHECK(problems() ==
        Problems{"no worker has joined yet (for 2.0 s); start one with forebay worker "
                 "--join"});
  add(1, NodeState::kRefused).node.trouble = "it is old";
  CHECK(problems() == Problems{"every worker was refused (for 2.0 s)", "refused: it is old"});
  add(2, NodeState::kJoined);
  CHECK(problems().front() ==
        "no worker is ready yet, they are opening the job's files (for 2.0 s)");
  add(1, NodeState::kPrepared);
  head.workers_awaited = 2;
  CHECK(problems() == Problems{"the job waits for 2 nodes, 1 of them ready"});
}

TEST_CASE_METHOD(StatusFixture, "a status names what is late, silent or out of reach",
                 "[scheduler]") {
  open_job();
  store_error = "disk full";
  head.split_client_gone_since = 90s;
  add(1, NodeState::kPrepared).last_heard = head.now - 1s;
  members.awaited() = {{"old", head.now - 3s}, {"young", head.now - 1s}};
  leases.issue(3);
  leases.lease(1, 1, head.now - 11s);
  CHECK(problems() == Problems{"nothing new is leased, the store cannot be written: disk full",
                               "the trainer of job j has been out of reach for 10 s",
                               "worker w1 is silent",
                               "worker old has not come back since the head's restart 3.0 s ago",
                               "the trainer waits for split 3, which worker w1 has had for 11 s"});
}

}  // namespace
}  // namespace forebay::scheduler
