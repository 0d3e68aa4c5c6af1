#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <zmq.hpp>

#include "core/base/descriptor.h"
#include "core/net/zmq/zap_authenticator.h"
#include "core/net/zmq/zmq_sessions.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/net/zmq/zmq_waiting_work.h"

namespace forebay {

/// A mutex that knows whether the calling thread holds it.
class TurnMutex {
 public:
  void lock() {
    mutex_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  bool try_lock() {
    if (is_mine() || !mutex_.try_lock()) return false;
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    owner_.store({}, std::memory_order_relaxed);
    mutex_.unlock();
  }
  bool is_mine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

/// The transport: its thread, its sockets and the work that other threads leave for it.
///
/// Any thread may call the public methods; they queue work and wake the thread if it sleeps.
/// Everything else runs on that thread, with two exceptions. If a single message is sent while the
/// thread sleeps, the sender takes the `turn_` lock and sends the message itself, which saves
/// waking the thread. And a thread that waits for an answer waits where the transport's own does,
/// in epoll_wait; the kernel wakes the one that came last, which then works in the other's place:
/// the answer comes without a wake-up more. So the transport's own thread does not come to
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

  void run();
  void help_until(const std::function<bool()>& done);
  void work(bool is_helped);
  void run_orders();
  void sleep(std::unique_lock<TurnMutex>& turn);
  bool may_sleep();
  template <class Visitor>
  void each_socket(Visitor visit);
  void watch(int fd) const;
  bool has_unread();
  void take_events(std::span<const epoll_event> events, bool is_helped);
  void tick();
  void keep_dialers();
  void finish();

  void receive_all();
  void receive_from(ZmqListener& listener);
  void receive_from(ZmqDialer& dialer, std::size_t lane);
  void answer_first();
  void send_all();
  Result<std::string> open(const HostPort& address);

  const Options options_;
  const Clock& clock_;
  // Guards sockets and sessions: held by the thread while it works, or by a sender or a waiting
  // thread in its place.
  TurnMutex turn_;
  zmq::context_t context_;
  const Descriptor wake_fd_;
  const Descriptor events_;  // epoll: of the sockets, of wake_fd_ and of waiting_work_; edges only
  const std::shared_ptr<ZmqWaitingWork> waiting_work_;

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // under mutex_, as all below
  std::vector<SessionPtr> announced_;
  TransportCounts published_counts_;
  std::atomic<bool> sleeping_{false};

  // Accessed by the holder of `turn_` only; sessions_.find(PeerId) by any thread.
  std::optional<ZapAuthenticator> zap_;
  std::vector<std::unique_ptr<ZmqListener>> listeners_;
  std::vector<std::unique_ptr<ZmqDialer>> dialers_;
  ZmqSessions sessions_{options_};
  std::vector<SessionPtr> answering_;  // have messages that the holder of `turn_` sent
  std::vector<SessionPtr> unsent_;
  Parts parts_;
  Time now_{0};
  Time next_tick_{0};
  bool stopping_ = false;
  bool streaming_ = false;
  bool deeply_ = false;  // the thread sleeps, or wakes up, and not for the short wait of a stream
  bool slept_ = false;   // since the sessions in unsent_ were tried
  std::optional<std::thread> thread_;
};

}  // namespace forebay
