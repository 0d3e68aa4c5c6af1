#include "tests/support/test_host.h"

namespace forebay::test {

TestHost::TestHost()
    : host_({.executor = line_,
             .timers = timers_,
             .clock = clock_,
             .on_unheard = [this](ActorId, const Error& error) { unheard_.push_back(error); },
             .own_thread_as = Placement::kShared}) {}

TestHost::~TestHost() {
  host_.stop_all(ActorHost::Stop::kNow);
  deliver_all();
}

bool TestHost::deliver_one() {
  if (line_.waiting.empty()) return false;
  Resumable* next = line_.waiting.front();
  line_.waiting.pop_front();
  if (next->resume(1) == Resumable::Next::kMore) line_.waiting.push_back(next);
  return true;
}

std::size_t TestHost::deliver_all() {
  std::size_t delivered = 0;
  while (deliver_one()) ++delivered;
  return delivered;
}

void TestHost::advance(std::chrono::nanoseconds by) {
  clock_.advance(by);
  timers_.fire(clock_.now());
}

}  // namespace forebay::test
