#include <atomic>
#include <future>
#include <memory>

#include "core/base/clock.h"
#include "core/runtime/actor.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/ask.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Counts the threads that help.
class CountedWork final : public WaitingWork {
 public:
  void help_until(const std::function<bool()>&) override { ++helped; }
  void look_again() override {}

  std::atomic<int> helped{0};
};

int answered(const std::shared_ptr<CountedWork>& work) {
  Answer<int> answer(work);
  answer.filler()(7);
  return *answer.wait();
}

struct Wait {
  static constexpr std::string_view kTag = "answer_test.wait/1";
  using Reply = int;
};

class WaitingActor final : public ActorOf<WaitingActor, Wait> {
 public:
  explicit WaitingActor(std::shared_ptr<CountedWork> work) : work_(std::move(work)) {}
  Result<int> on(const Wait&, Context&) { return answered(work_); }

 private:
  const std::shared_ptr<CountedWork> work_;
};

}  // namespace

TEST_CASE("a thread that waits for an answer helps, unless actors share it", "[core][ask]") {
  const auto work = std::make_shared<CountedWork>();
  CHECK(answered(work) == 7);
  CHECK(work->helped == 1);

  const SystemClock clock;
  ActorSystem system({.executor = {.name = "test", .threads = 1}, .on_unheard = {}}, clock);
  const auto waits = [&](Placement placement) {
    const auto actor = system.spawn({.name = "waiting", .placement = placement},
                                    [&] { return std::make_unique<WaitingActor>(work); });
    CHECK(ask(actor, Wait{}, std::chrono::seconds(10)).wait() == 7);
  };
  waits(Placement::kShared);
  CHECK(work->helped == 1);
  waits(Placement::kOwnThread);
  CHECK(work->helped == 2);
}

}  // namespace forebay
