#include "engine/ranks/state_peer.h"

#include <atomic>
#include <memory>
#include <thread>

#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Two tensors of eight bytes; the first can be read once the gate is open.
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
                                             {.name = "free", .shape = {2}}};
};

/// Both ends of a link, connected directly.
struct PeerFixture {
  PeerFixture() { owner.serve(std::make_unique<GatedSource>(gate)); }
  ~PeerFixture() {
    gate.open = true;
    owner.serve(nullptr);
  }

  static std::string text_of(StateSource& state, std::size_t index) {
    std::vector<std::byte> bytes(8);
    const auto read = state.read(index, 0, bytes);
    return read ? std::to_string(static_cast<int>(bytes[7])) : read.error().message;
  }
  std::unique_ptr<StateSource> state() {
    return std::make_unique<RemoteState>(GatedSource(gate).tensors(), reader);
  }

  GatedSource::Gate gate;
  std::atomic<int> questions{0};
  StatePeer owner{"rank 0", [this](const RankMessage& message) -> Status {
                    if (auto* bytes = std::get_if<StateBytes>(&message)) reader.on(*bytes);
                    return {};
                  }};
  StatePeer reader{"rank 1", [this](const RankMessage& message) -> Status {
                     if (auto* read = std::get_if<ReadState>(&message)) owner.on(*read);
                     if (std::holds_alternative<ReadState>(message)) ++questions;
                     return {};
                   }};
};

}  // namespace

TEST_CASE_METHOD(PeerFixture, "another rank's state is read however long it takes",
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

TEST_CASE_METHOD(PeerFixture,
                 "a late answer is not taken for a later question after the first was given up",
                 "[tools][ranks]") {
  {
    const auto remote = state();
    std::vector<std::unique_ptr<StateSource>> ranks;
    ranks.push_back(state());
    MergedState merged(std::move(ranks));
    std::thread other([&] {
      test::wait_until([this] { return gate.asked > 0; });
      merged.give_up();
    });
    CHECK(text_of(*remote, 0) == "rank 1 does not give its state");
    other.join();
    CHECK(text_of(*remote, 1) == "rank 1 does not give its state");
  }
  // The two answers above come before the third, and are of the same size.
  const auto again = state();
  std::thread opener([this] {
    test::wait_until([this] { return questions == 3; });
    gate.open = true;
  });
  CHECK(text_of(*again, 1) == "11");
  opener.join();
}

TEST_CASE_METHOD(PeerFixture,
                 "a state is released when its reader's rank is lost, and no state is served after",
                 "[tools][ranks]") {
  owner.lose("killed");
  test::wait_until([this] { return gate.alive.load() == 0; });
  owner.serve(std::make_unique<GatedSource>(gate));
  test::wait_until([this] { return gate.alive.load() == 0; });
}

TEST_CASE_METHOD(PeerFixture, "reading the state of a rank that is lost fails with the reason",
                 "[tools][ranks]") {
  const auto remote = state();
  std::thread other([this] {
    test::wait_until([this] { return gate.asked > 0; });
    reader.lose("gone");
  });
  CHECK(text_of(*remote, 0) == "rank 1 was lost: gone");
  other.join();
}
