#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/net/transport.h"
#include "core/net/zmq/turn_lock.h"

namespace forebay {

/// Which of a transport's two threads works: while the handler's work keeps one of them, the other
/// one, which stands by, takes the turn.
class ZmqStandby {
 public:
  using Time = std::chrono::nanoseconds;

  /// `mutex`: while a thread holds it, no other one takes the turn. Both must outlive this object.
  ZmqStandby(TurnLock& turn, std::mutex& mutex) : turn_(turn), mutex_(mutex) {}

  /// Stands by until the thread that has the turn has done one piece of the handler's work for
  /// long, and takes the turn. Returns false at the end.
  bool take_over(Time heartbeat);
  /// Does the handler's work, for the thread that has the turn. Returns false if the other thread
  /// took the turn meanwhile.
  bool do_work(TransportHandler& handler);
  /// Lets the handler's work for the next message take its time.
  void renew() { worked_ = Time(0); }
  /// Whether the thread that has the turn does the handler's work.
  bool in_work() const { return in_work_ != 0; }
  /// Lets the thread that stands by end.
  void end();

 private:
  TurnLock& turn_;
  std::mutex& mutex_;
  bool ended_ = false;  // under mutex_
  std::condition_variable end_;
  // The piece of the handler's work that is done, by number; 0: none. The thread that stands by
  // makes it 0, under mutex_, to take over.
  std::atomic<std::uint64_t> in_work_{0};
  std::atomic<bool> stands_by_{false};  // a thread does
  // Accessed by the holder of `turn_` only.
  std::uint64_t num_works_ = 0;  // so far
  Time worked_{0};               // for the last message
};

}  // namespace forebay
