#include "core/net/zmq/zmq_waiting_work.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

/// More than a thread that was woken needs until it runs.
constexpr std::chrono::seconds kAwakeSoon{1};

}  // namespace

ZmqWaitingWork::ZmqWaitingWork(Work work)
    : look_again_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), work_(std::move(work)) {
  FOREBAY_CHECK(look_again_);
}

void ZmqWaitingWork::help_until(const std::function<bool()>& done) {
  if (helping_.load() == std::this_thread::get_id()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || ended_.load()) return;
  helping_.store(std::this_thread::get_id());
  work_([&] { return ended_.load() || done(); });
  helping_.store({});
}

bool ZmqWaitingWork::waits(const std::function<bool()>& done) {
  // Here and in look_again() the word is exchanged, so that either this thread sees what was done
  // before that call, or the call sees that this thread waits.
  waiting_.exchange(true);
  if (!done()) return true;
  woke();
  return false;
}

void ZmqWaitingWork::look_again() {
  bool waiting = false;
  if (waiting_.compare_exchange_strong(waiting, false)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(look_again_.number(), &one, sizeof(one)));
}

bool ZmqWaitingWork::wait_behind(std::chrono::nanoseconds most) {
  if (!waiting_.load()) return false;
  // Here and in woke() each thread writes its own word before it reads the other's: one of them
  // sees the other.
  std::unique_lock lock(awake_mutex_);
  behind_.store(true);
  if (waiting_.load()) awake_.wait_for(lock, most, [this] { return !behind_.load(); });
  behind_.store(false);
  return true;
}

void ZmqWaitingWork::pass_on() {
  look_again();
  wait_behind(kAwakeSoon);
}

void ZmqWaitingWork::woke() {
  waiting_.store(false);
  if (!behind_.load()) return;
  const std::lock_guard lock(awake_mutex_);
  behind_.store(false);
  awake_.notify_one();
}

void ZmqWaitingWork::end() {
  ended_.store(true);
  look_again();
  const std::lock_guard lock(mutex_);
}

}  // namespace forebay
