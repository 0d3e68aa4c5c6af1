#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <forebay/testing.h>

#include "core/runtime/actor_host.h"
#include "core/runtime/timer_queue.h"
#include "engine/actors/local_target.h"
#include "engine/actors/seeded_executor.h"

namespace forebay::actors {

class TestSystem::Running {
 public:
  explicit Running(std::uint64_t seed)
      : executor_(seed),
        actors_(
            {.executor = executor_,
             .timers = timers_,
             .clock = clock_,
             .on_unheard =
                 [this](ActorId, const forebay::Error& error) { unheard_.push_back(shown(error)); },
             .own_thread_as = forebay::Placement::kShared}),
        host_(actors_) {}
  ~Running() {
    actors_.stop_all(ActorHost::Stop::kNow);
    while (executor_.step()) continue;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool step() { return executor_.step(); }
  void advance(std::chrono::nanoseconds by) {
    clock_.advance(by);
    next_timer_ = timers_.fire(clock_.now());
  }
  bool advance_to_timer() {
    next_timer_ = timers_.fire(clock_.now());
    if (!next_timer_) return false;
    advance(*next_timer_ - clock_.now());
    return true;
  }
  const std::vector<Error>& unheard() const { return unheard_; }
  Host& host() { return host_; }

 private:
  SimulatedClock clock_;
  TimerQueue timers_;
  SeededExecutor executor_;
  std::vector<Error> unheard_;
  std::optional<std::chrono::nanoseconds> next_timer_;
  ActorHost actors_;
  UserHost host_;  // its actors end in the destructor above
};

TestSystem::TestSystem(std::uint64_t seed) : running_(std::make_unique<Running>(seed)) {}
TestSystem::TestSystem(TestSystem&&) noexcept = default;
TestSystem& TestSystem::operator=(TestSystem&&) noexcept = default;
TestSystem::~TestSystem() = default;

bool TestSystem::step() { return running_->step(); }

std::size_t TestSystem::run() {
  std::size_t handled = 0;
  while (step()) ++handled;
  return handled;
}

void TestSystem::advance(std::chrono::nanoseconds by) { running_->advance(by); }
bool TestSystem::advance_to_timer() { return running_->advance_to_timer(); }
const std::vector<Error>& TestSystem::unheard() const { return running_->unheard(); }
Host& TestSystem::host() { return running_->host(); }

}  // namespace forebay::actors
