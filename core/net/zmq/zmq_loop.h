#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/descriptor.h"
#include "core/net/zmq/turn_lock.h"
#include "core/net/zmq/zmq_sessions.h"
#include "core/net/zmq/zmq_sockets.h"
#include "core/net/zmq/zmq_standby.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/net/zmq/zmq_waiting_work.h"

namespace forebay {

/// The transport: its threads and the work that other threads leave for them.
///
/// Any thread may call the public methods; they queue work and wake the thread if it sleeps. One of
/// two threads works; the other one stands by, and takes over when the handler's do_work() takes
/// long: heartbeats and messages go on, and when do_work() returns, that thread stands by.
/// Everything else runs on the thread that works, with two exceptions. If a single message is sent
/// while the thread sleeps, the sender takes the `turn_` lock and sends the message itself, which
/// saves waking the thread. And a thread that waits for an answer waits where the transport's own
/// does, in epoll_wait; the kernel wakes the one that came last, which then works in the other's
/// place: the answer comes without a wake-up more. So the transport's own thread does not come to
/// epoll_wait while another one waits there. Messages in a stream are left to the thread and share
/// parcels: it looks for more after a short wait, so senders need not wake it.
class ZmqLoop final : public ZmqTransport {
 public:
  ZmqLoop(Options options, const Clock& clock);
  ~ZmqLoop() override;
  ZmqLoop(const ZmqLoop&) = delete;
  ZmqLoop& operator=(const ZmqLoop&) = delete;

  void start(TransportHandler& handler) override;
  Result<std::string> listen(const std::string& address) override;
  Status connect(const std::string& address) override;
  void disconnect(const std::string& address) override;
  Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) override;
  std::shared_ptr<SessionSender> sender(PeerId peer) override;
  void close(PeerId peer, const std::string& reason) override;
  std::shared_ptr<WaitingWork> waiting_work() override { return waiting_work_; }
  void stop() override;
  TransportCounts counts() const override;

 private:
  using Time = std::chrono::nanoseconds;
  using SessionPtr = ZmqSessions::SessionPtr;

  class Sender;

  Status send_to(const SessionPtr& session, Lane lane, std::span<const std::byte> head,
                 Frames&& body);
  void post(std::function<void()> order);
  void announce(const SessionPtr& session);
  void wake();
  void wake_always();
  bool send_at_once(const SessionPtr& session);

  void run(bool works);
  bool keep_working();
  void help_until(const std::function<bool()>& done);
  bool take_turn(bool is_helped);
  void begin_turn(bool is_helped);
  bool receive_some();
  void run_orders();
  void sleep();
  bool may_sleep();
  void take_events(std::span<const epoll_event> events, bool is_helped);
  void tick();
  void answer_first();
  void send_all();

  const Options options_;
  const Clock& clock_;
  // Guards sockets and sessions: held by the thread while it works, or by a sender or a waiting
  // thread in its place.
  TurnLock turn_;
  const Descriptor wake_fd_;
  const std::shared_ptr<ZmqWaitingWork> waiting_work_;

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // under mutex_, as all below
  std::vector<SessionPtr> announced_;
  TransportCounts published_counts_;
  ZmqStandby standby_{turn_, mutex_};
  std::atomic<bool> sleeping_{false};

  // Accessed by the holder of `turn_` only; sessions_.find(PeerId) by any thread.
  ZmqSessions sessions_{options_};
  ZmqSockets sockets_{options_, sessions_};  // it waits for wake_fd_ and waiting_work_, too
  std::vector<SessionPtr> answering_;        // have messages that the holder of `turn_` sent
  std::vector<SessionPtr> unsent_;
  Time now_{0};
  Time next_tick_{0};
  bool stopping_ = false;
  bool streaming_ = false;
  bool deeply_ = false;  // the thread sleeps, or wakes up, and not for the short wait of a stream
  bool slept_ = false;   // since the sessions in unsent_ were tried
  TransportHandler* handler_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace forebay
