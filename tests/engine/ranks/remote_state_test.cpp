#include "engine/ranks/remote_state.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "core/runtime/ask.h"
#include "engine/ranks/merged_state.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Two tensors of eight bytes, the first of which can be read once the gate is open; and one that
/// is larger than the bytes that may be asked for at a time.
class GatedSource final : public StateSource {
 public:
  struct Gate {
    std::atomic<bool> open{false};
    std::atomic<int> asked{0};
    std::atomic<int> alive{0};
  };
  explicit GatedSource(Gate& gate) : gate_(gate) { ++gate_.alive; }
  ~GatedSource() override { --gate_.alive; }
  GatedSource(const GatedSource&) = delete;
  GatedSource& operator=(const GatedSource&) = delete;
  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t, std::span<std::byte> to) override {
    ++gate_.asked;
    if (index == 0) test::wait_until([this] { return gate_.open.load(); });
    std::ranges::fill(to, std::byte(10 + index));
    return {};
  }

 private:
  Gate& gate_;
  const std::vector<StateTensor> tensors_ = {{.name = "held", .shape = {2}},
                                             {.name = "free", .shape = {2}},
                                             {.name = "large", .shape = {ReadState::kMostBytes}}};
};

/// Answers every question for bytes in the same way.
class Answering final : public ActorOf<Answering, ReadState> {
 public:
  explicit Answering(Result<StateBytes> answer) : answer_(std::move(answer)) {}
  Result<StateBytes> on(const ReadState&, Context&) { return answer_; }

 private:
  const Result<StateBytes> answer_;
};

/// The owner of a state and its reader, in one process.
struct StateFixture {
  StateFixture() { serve(); }
  ~StateFixture() { gate.open = true; }

  void serve() { served = owner.serve(actors, std::make_unique<GatedSource>(gate)); }
  std::unique_ptr<StateSource> state() { return state_at(served); }
  std::unique_ptr<StateSource> state_at(const StateRef& from) {
    return std::make_unique<RemoteState>("rank 1", GatedSource(gate).tensors(), from);
  }
  std::unique_ptr<StateSource> answering(const Result<StateBytes>& answer) {
    return state_at(actors.spawn({}, [answer] { return std::make_unique<Answering>(answer); }));
  }
  static std::string text_of(StateSource& state, std::size_t index) {
    std::vector<std::byte> bytes(8);
    const auto read = state.read(index, 0, bytes);
    return read ? std::to_string(static_cast<int>(bytes[7])) : read.error().message;
  }
  bool is_released() const { return gate.alive.load() == 0; }

  GatedSource::Gate gate;
  SystemClock clock;
  ServedState owner;
  ActorSystem actors{{}, clock};
  StateRef served;
};

}  // namespace

TEST_CASE_METHOD(StateFixture, "another rank's state is read however long it takes",
                 "[tools][ranks]") {
  const auto remote = state();
  std::thread opener([this] {
    test::wait_until([this] { return gate.asked > 0; });
    gate.open = true;
  });
  CHECK(text_of(*remote, 0) == "10");
  opener.join();
  CHECK(text_of(*remote, 1) == "11");
}

TEST_CASE_METHOD(StateFixture,
                 "a late answer is not taken for a later question after the first was given up",
                 "[tools][ranks]") {
  const auto other = state();
  {
    std::vector<std::unique_ptr<StateSource>> ranks;
    ranks.push_back(state());
    MergedState merged(std::move(ranks));
    std::thread giving_up([&] {
      test::wait_until([this] { return gate.asked > 0; });
      merged.give_up();
    });
    CHECK(text_of(merged, 0) == "rank 1 does not give its state");
    giving_up.join();
    CHECK(text_of(merged, 1) == "rank 1 does not give its state");
    // The answer to the first question comes before that to the next one, and is of the same size.
    std::thread opener([this] { gate.open = true; });
    CHECK(text_of(*other, 1) == "11");
    opener.join();
    CHECK(text_of(merged, 1) == "rank 1 does not give its state");
  }
}

TEST_CASE_METHOD(StateFixture, "a state is released when its reader is done with it",
                 "[tools][ranks]") {
  state().reset();
  test::wait_until([this] { return is_released(); });
}

TEST_CASE_METHOD(StateFixture, "a state that is taken back is released at once", "[tools][ranks]") {
  owner.take_back();
  CHECK(is_released());
  serve();
  CHECK(gate.alive == 1);
  serve();
  CHECK(gate.alive == 1);
}

TEST_CASE_METHOD(StateFixture,
                 "a state is released when its reader's rank is lost, and no state is served after",
                 "[tools][ranks]") {
  owner.lose();
  test::wait_until([this] { return is_released(); });
  serve();
  test::wait_until([this] { return is_released(); });
}

TEST_CASE_METHOD(StateFixture, "reading the state of a rank that is lost fails with the reason",
                 "[tools][ranks]") {
  CHECK(text_of(*answering(fail(Code::kUnavailable, "gone")), 0) == "rank 1 was lost: gone");
  CHECK(text_of(*answering(fail(Code::kNotFound, "no actor")), 0) == "rank 1: no actor");
}

TEST_CASE_METHOD(StateFixture, "an error of another rank's disk is passed on", "[tools][ranks]") {
  CHECK(text_of(*answering(StateBytes{fail(Code::kUnavailable, "disk gone"), {}}), 0) ==
        "disk gone");
}

TEST_CASE_METHOD(StateFixture, "bytes of another size than were asked for are refused",
                 "[tools][ranks]") {
  const auto seven = std::make_shared<std::vector<std::byte>>(7);
  const Frame short_one(seven, seven->data(), seven->size());
  const std::string why = "rank 1 gave other bytes of its state than were asked for";
  CHECK(text_of(*answering(StateBytes{{}, {short_one}}), 0) == why);
  CHECK(text_of(*answering(StateBytes{}), 0) == why);
}

TEST_CASE_METHOD(StateFixture, "a range that lies in no tensor is not read", "[tools][ranks]") {
  const auto ask_for = [this](const ReadState& range) {
    return ask(served, ReadState(range), std::chrono::seconds(20)).wait().value().read;
  };
  CHECK(ask_for({.index = 1, .offset = 4, .bytes = 4}));
  CHECK_FALSE(ask_for({.index = 3, .offset = 0, .bytes = 1}));
  CHECK_FALSE(ask_for({.index = 2, .offset = 0, .bytes = ReadState::kMostBytes + 1}));
  CHECK_FALSE(ask_for({.index = 1, .offset = 9, .bytes = 0}));
  CHECK_FALSE(ask_for({.index = 1, .offset = 4, .bytes = 5}));
  CHECK(gate.asked == 1);
}
