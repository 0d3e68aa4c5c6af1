#include "core/net/zmq/zmq_standby.h"

#include <algorithm>

namespace forebay {
namespace {

/// How often the thread that stands by looks: once a heartbeat, within these limits. If two looks
/// in a row find the same piece of the handler's work, it takes over.
constexpr std::chrono::milliseconds kLeastLook{5};
constexpr std::chrono::milliseconds kMostLook{100};

/// The time that the handler's work may take for one message received, which consists of many; what
/// comes of it after that time is left to others.
constexpr std::chrono::microseconds kMostWork{100};

}  // namespace

bool ZmqStandby::take_over(Time heartbeat) {
  const Time look = std::clamp<Time>(heartbeat, kLeastLook, kMostLook);
  std::unique_lock lock(mutex_);
  stands_by_ = true;
  std::uint64_t seen = 0;
  while (!end_.wait_for(lock, look, [this] { return ended_; })) {
    if (seen != 0 && in_work_.compare_exchange_strong(seen, 0)) {
      stands_by_ = false;
      turn_.take_over();
      return true;
    }
    seen = in_work_;
  }
  return false;
}

bool ZmqStandby::do_work(TransportHandler& handler) {
  if (!handler.has_work()) return true;
  if (!stands_by_ || worked_ >= kMostWork) {
    handler.do_work(false);
    return true;
  }
  std::uint64_t number = ++num_works_;
  in_work_ = number;
  const Time took = handler.do_work(true);
  if (!in_work_.compare_exchange_strong(number, 0)) return false;
  worked_ += took;
  return true;
}

void ZmqStandby::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  end_.notify_one();
}

}  // namespace forebay
