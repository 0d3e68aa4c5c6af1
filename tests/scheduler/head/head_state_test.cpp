#include "scheduler/head/head_state.h"

#include "core/store/journaled.h"
#include "core/store/store.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

JobShare job_share(std::string id) {
  return {
      .id = std::move(id), .text = "text", .fingerprint = "f", .splits_per_epoch = 10, .epochs = 3};
}

HeadState after(const std::vector<HeadState::Event>& events) {
  HeadState state;
  for (const auto& event : events) REQUIRE(state.apply(event));
  return state;
}

/// Applies `event`, which must be refused without a change.
Code refusal(HeadState state, const HeadState::Event& event) {
  const HeadState before = state;
  const auto refused = state.apply(event);
  REQUIRE_FALSE(refused);
  CHECK(state == before);
  return refused.error().code;
}

TEST_CASE("opening a job cuts finished splits back to the trainer's position", "[scheduler]") {
  HeadState state = after({JobOpening{job_share("a"), 1, 0, {}}, SplitsFinished{1, 7, {{9, 11}}}});
  CHECK(state.finished().size() == 10);
  CHECK(state.epoch() == 0);
  REQUIRE(state.apply(JobOpening{job_share("a"), 2, 5, {{6, 6}}}));
  CHECK(state.finished().lowest_missing() == 5);
  CHECK(state.finished().ahead() == std::vector<SplitRange>{{6, 6}});
  CHECK(state.job_is_open());
}

TEST_CASE("the epoch is that of the lowest split that is not finished", "[scheduler]") {
  // 10 splits an epoch: 0 … 19 finished is two epochs, 29 alone does not begin the third's end.
  CHECK(after({JobOpening{job_share("a"), 1, 19, {{25, 29}}}}).epoch() == 1);
  CHECK(after({JobOpening{job_share("a"), 1, 20, {{25, 29}}}}).epoch() == 2);
}

TEST_CASE("a head refuses inconsistent events", "[scheduler]") {
  const HeadState open = after({JobOpening{job_share("a"), 4, 0, {}}, NodeJoined{7, "n", "h"}});
  CHECK(refusal(open, JobOpening{job_share("b"), 4, 0, {}}) == Code::kInvalid);
  CHECK(refusal(open, JobOpening{job_share(""), 5, 0, {}}) == Code::kInvalid);
  CHECK(refusal(open, JobOpening{job_share("a"), 5, 31, {}}) == Code::kInvalid);
  CHECK(refusal(open, JobOpening{job_share("a"), 5, 0, {{29, 30}}}) == Code::kInvalid);
  CHECK(refusal(open, SplitsFinished{3, 1, {}}) == Code::kNotFound);
  CHECK(refusal(open, SplitsFinished{4, 31, {}}) == Code::kInvalid);
  CHECK(refusal(open, SplitsFinished{4, 0, {{5, 4}}}) == Code::kInvalid);
  CHECK(refusal(open, JobClosing{3}) == Code::kNotFound);
  CHECK(refusal(open, NodeJoined{7, "m", "h"}) == Code::kInvalid);
  CHECK(refusal(open, NodeLeft{6}) == Code::kNotFound);
  CHECK(refusal(open, LearnedStateSaved{"", "x"}) == Code::kInvalid);
  HeadState closed = open;
  REQUIRE(closed.apply(JobClosing{4}));
  CHECK(refusal(closed, SplitsFinished{4, 1, {}}) == Code::kNotFound);
}

TEST_CASE("a member that left keeps its incarnation from being used again", "[scheduler]") {
  const HeadState state = after({NodeJoined{3, "n", "h"}, NodeLeft{3}});
  CHECK(state.nodes().empty());
  CHECK(state.last_incarnation() == 3);
  CHECK(refusal(state, NodeJoined{3, "n", "h"}) == Code::kInvalid);
}

TEST_CASE("a head's state is the same after its store was opened again", "[scheduler]") {
  const std::vector<HeadState::Event> events = {NodeJoined{1, "one", "host"},
                                                JobOpening{job_share("a"), 1, 2, {{4, 5}}},
                                                LearnedStateSaved{"k", std::string("\0v", 2)},
                                                NodeJoined{2, "two", "host"},
                                                SplitsFinished{1, 3, {{9, 9}}},
                                                NodeLeft{1}};
  const HeadState expected = after(events);
  // Once from events alone, once from a snapshot and events, once from a snapshot.
  for (const std::size_t every : {100, 4, 1}) {
    MemoryStore store;
    auto journal = Journaled<HeadState>::open(store, {.snapshot_every = every}).value();
    for (const auto& event : events) REQUIRE(journal.commit(event));
    const auto again = Journaled<HeadState>::open(store).value();
    CHECK(again.state() == expected);
    CHECK(again.recovery().cut.empty());
  }
}

TEST_CASE("a head's events and snapshots refuse foreign bytes", "[scheduler]") {
  CHECK_FALSE(HeadState::decode_event(""));
  CHECK_FALSE(HeadState::decode_event("\x63nothing"));
  CHECK_FALSE(HeadState::decode(""));
  CHECK_FALSE(HeadState::decode("S"));
  const std::string whole = after({JobOpening{job_share("a"), 1, 2, {{4, 5}}}}).encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(HeadState::decode(whole.substr(0, size)));
  }
  CHECK(HeadState::decode(whole));
}

}  // namespace
}  // namespace forebay::scheduler
