#include "core/base/thread/thread_team.h"

#include <algorithm>
#include <atomic>

#include "core/base/thread/start_thread.h"

namespace forebay {

ThreadTeam::ThreadTeam(std::size_t members) : members_(std::max<std::size_t>(members, 1)) {}

ThreadTeam::~ThreadTeam() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  next_round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// The caller does the work of members for which the system has no thread.
void ThreadTeam::start() {
  if (!threads_.empty()) return;
  try {
    for (std::size_t member = 1; member < members_; ++member) {
      threads_.push_back(start_thread("team member", [this, member] { work(member); }));
    }
  } catch (const NoThread&) {
    return;
  }
}

void ThreadTeam::work(std::size_t member) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    next_round_.wait(lock, [&] { return stop_ || round_ > done; });
    if (stop_) return;
    done = round_;
    const auto& body = *body_;
    lock.unlock();
    body(member);
    lock.lock();
    if (--working_ == 0) all_done_.notify_one();
  }
}

void ThreadTeam::run(const std::function<void(std::size_t)>& body) {
  const std::lock_guard turn(turn_);
  start();
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    working_ = threads_.size();
    ++round_;
  }
  next_round_.notify_all();
  body(0);
  for (std::size_t member = threads_.size() + 1; member < members_; ++member) body(member);
  std::unique_lock lock(mutex_);
  all_done_.wait(lock, [this] { return working_ == 0; });
}

void ThreadTeam::for_each(std::size_t count,
                          const std::function<void(std::size_t, std::size_t)>& body) {
  std::atomic<std::size_t> taken{0};
  run([&](std::size_t member) {
    for (std::size_t i = taken++; i < count; i = taken++) body(i, member);
  });
}

}  // namespace forebay
