#include "engine/ranks/rank_group.h"

#include <memory>

#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/ask.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// A rank that notes the slices it gets, and answers commands by the next of its answers.
class NotingRank final
    : public ActorOf<NotingRank, RankCall, RankCommand, BatchSlice, BatchIds, ForgetIds> {
 public:
  struct Notes {
    std::string slices;
    std::deque<Result<RankDone>> answers;
    std::unique_ptr<Replier<RankDone>> kept;  // of a command for which there was no answer
  };
  explicit NotingRank(Synchronized<Notes>& notes) : notes_(notes) {}

  Result<RankHello> on(const RankCall&, Context&) { return RankHello{}; }
  Result<RankDone> on(const RankCommand&, std::unique_ptr<Replier<RankDone>>& replier, Context&) {
    return notes_.change([&](Notes& notes) -> Result<RankDone> {
      if (notes.answers.empty()) {
        notes.kept = std::move(replier);
        return RankDone{};
      }
      auto answer = std::move(notes.answers.front());
      notes.answers.pop_front();
      return answer;
    });
  }
  Status on(const BatchSlice& slice, Context&) {
    notes_.change([&](Notes& notes) { notes.slices += std::to_string(slice.number) + " "; });
    return {};
  }
  Status on(const BatchIds&, Context&) { return {}; }
  Status on(const ForgetIds&, Context&) { return {}; }

 private:
  Synchronized<Notes>& notes_;
};

/// Rank 0 of two, and the other one in the same process.
struct GroupFixture {
  GroupFixture() {
    rank = actors.spawn({}, [this] { return std::make_unique<NotingRank>(notes); });
    REQUIRE(group.come({.rank = 1, .group = "g", .alike = ""}, rank));
  }
  ~GroupFixture() {
    notes.change([](auto& now) { now.kept.reset(); });
  }
  void send(std::uint64_t number) {
    BatchSlice slice;
    slice.number = number;
    group.send(1, std::move(slice));
  }
  /// Waits until the rank has handled all that was sent.
  void settle() { REQUIRE(ask(rank, RankCall{}, std::chrono::seconds(20)).wait()); }
  std::string slices() {
    settle();
    return notes.change([](auto& now) { return now.slices; });
  }
  void ask_for_snapshot() {
    group.ask_all([](int) { return RankCommand{.kind = RankCommand::Kind::kSnapshot}; });
    settle();
  }
  void answer_next(Result<RankDone> answer) {
    notes.change([&](auto& now) { now.answers.push_back(std::move(answer)); });
  }

  RankOptions options{.size = 2, .group = "g", .keys = ""};
  SystemClock clock;
  Synchronized<NotingRank::Notes> notes;
  RankGroup group{options};
  ActorSystem actors{{}, clock};
  RankRef rank;
};

constexpr std::chrono::nanoseconds kNow{0};

}  // namespace

TEST_CASE_METHOD(GroupFixture, "a rank gets two slices ahead, and another one for each credit",
                 "[tools][ranks]") {
  for (std::uint64_t number = 1; number <= 5; ++number) send(number);
  CHECK(slices() == "1 2 ");
  group.add_credits(1, 1);
  CHECK(slices() == "1 2 3 ");
  group.add_credits(1, 9);
  CHECK(slices() == "1 2 3 4 5 ");
  send(6);
  CHECK(slices() == "1 2 3 4 5 6 ");
}

TEST_CASE_METHOD(GroupFixture, "slices that wait for a lost rank are dropped", "[tools][ranks]") {
  for (std::uint64_t number = 1; number <= 3; ++number) send(number);
  group.lose(1, "gone");
  group.add_credits(1, 1);
  CHECK(slices() == "1 2 ");
}

TEST_CASE_METHOD(GroupFixture, "ranks of other numbers do not come", "[tools][ranks]") {
  CHECK(group.come({.rank = 0, .group = "g", .alike = ""}, rank).error().message ==
        "no rank of this run");
  CHECK(group.come({.rank = 2, .group = "g", .alike = ""}, rank).error().message ==
        "no rank of this run");
}

TEST_CASE_METHOD(GroupFixture, "a rank whose session ends gives no answer: its loss is the result",
                 "[tools][ranks]") {
  answer_next(fail(Code::kUnavailable, "the session is over"));
  ask_for_snapshot();
  CHECK(group.wait_until_done(kNow).error().code == Code::kTimeout);
  group.lose(1, "gone");
  CHECK(group.wait_until_done(kNow).error().message == "rank 1 was lost (gone)");
}

TEST_CASE_METHOD(GroupFixture, "an answer that cannot be read is the rank's result",
                 "[tools][ranks]") {
  answer_next(fail(Code::kCorrupt, "no tensors"));
  ask_for_snapshot();
  CHECK(group.wait_until_done(kNow).error().message == "rank 1: no tensors");
}

TEST_CASE_METHOD(GroupFixture, "a late answer is not taken for that to the next command",
                 "[tools][ranks]") {
  ask_for_snapshot();
  CHECK(group.wait_until_done(kNow).error().code == Code::kTimeout);
  const std::shared_ptr<Replier<RankDone>> late =
      notes.change([](auto& now) { return std::move(now.kept); });
  ask_for_snapshot();
  late->answer(RankDone{});
  CHECK(group.wait_until_done(kNow).error().code == Code::kTimeout);
  notes.change([](auto& now) { now.kept->answer(RankDone{.tensors = {{.name = "some"}}}); });
  const auto done = group.wait_until_done(kNow);
  REQUIRE(done);
  CHECK(done->at(0).tensors.at(0).name == "some");
}
