#include "core/base/thread/background_worker.h"

#include "core/base/thread/start_thread.h"

namespace forebay {

BackgroundWorker::BackgroundWorker(std::string use, std::chrono::nanoseconds period, Work tick)
    : use_(std::move(use)), period_(period), tick_(std::move(tick)) {
  const std::lock_guard lock(mutex_);
  start();
}

void BackgroundWorker::start() {
  if (!thread_.joinable()) thread_ = start_thread(use_, [this] { run(); });
}

Status BackgroundWorker::post(Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return {};
  try {
    start();
  } catch (const NoThread& none) {
    return fail(Code::kUnavailable, none.what());
  }
  posted_.push_back(std::move(work));
  woken_.notify_all();
  return {};
}

void BackgroundWorker::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  woken_.notify_all();
  std::thread thread = std::exchange(thread_, {});
  lock.unlock();
  if (thread.joinable()) thread.join();
}

void BackgroundWorker::run() {
  std::unique_lock lock(mutex_);
  const auto called = [this] { return stopping_ || !posted_.empty(); };
  while (true) {
    if (tick_) {
      woken_.wait_for(lock, period_, called);
    } else {
      woken_.wait(lock, called);
    }
    if (stopping_) return;
    Work work = tick_;
    if (!posted_.empty()) {
      work = std::move(posted_.front());
      posted_.pop_front();
    }
    lock.unlock();
    work();
    work = {};  // what it holds goes before the wait, and without the lock
    lock.lock();
  }
}

}  // namespace forebay
