#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
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
#include "core/net/zmq/turn_lock.h"
#include "core/net/zmq/zap_authenticator.h"
#include "core/net/zmq/zmq_sessions.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/net/zmq/zmq_waiting_work.h"

namespace forebay {

/// The transport: its threads, its sockets and the work that other threads leave for it.
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
  bool take_over();
  bool keep_working();
  void help_until(const std::function<bool()>& done);
  bool take_turn(bool is_helped);
  bool do_handlers_work();
  void begin_turn(bool is_helped);
  bool receive_some();
  void run_orders();
  void sleep();
  bool may_sleep();
  template <class Visitor>
  void each_socket(Visitor visit);
  void watch(int fd) const;
  bool has_unread();
  void take_events(std::span<const epoll_event> events, bool is_helped);
  void tick();
  void keep_dialers();
  void finish();

  bool receive_from(std::size_t source);
  bool receive_from(ZmqListener& listener);
  bool receive_from(ZmqDialer& dialer, std::size_t lane);
  void answer_first();
  void send_all();
  Result<std::string> open(const HostPort& address);

  const Options options_;
  const Clock& clock_;
  // Guards sockets and sessions: held by the thread while it works, or by a sender or a waiting
  // thread in its place.
  TurnLock turn_;
  zmq::context_t context_;
  const Descriptor wake_fd_;
  const Descriptor events_;  // epoll: of the sockets, of wake_fd_ and of waiting_work_; edges only
  const std::shared_ptr<ZmqWaitingWork> waiting_work_;

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // under mutex_, as all below
  std::vector<SessionPtr> announced_;
  TransportCounts published_counts_;
  bool ended_ = false;
  std::condition_variable end_;
  // The piece of the handler's work that the holder of `turn_` does, by number; 0: none. Another
  // thread makes it 0, under mutex_, to take over.
  std::atomic<std::uint64_t> in_work_{0};
  std::atomic<bool> stands_by_{false};  // a thread does
  std::atomic<bool> sleeping_{false};

  // Accessed by the holder of `turn_` only; sessions_.find(PeerId) by any thread.
  std::optional<ZapAuthenticator> zap_;
  std::vector<std::unique_ptr<ZmqListener>> listeners_;
  std::vector<std::unique_ptr<ZmqDialer>> dialers_;
  ZmqSessions sessions_{options_};
  std::vector<SessionPtr> answering_;  // have messages that the holder of `turn_` sent
  std::vector<SessionPtr> unsent_;
  Parts parts_;
  std::size_t source_ = 0;  // that is received from in this turn: listeners, then dialers' lanes
  int received_ = 0;        // messages of it
  std::uint64_t num_works_ = 0;  // of the handler, so far
  Time worked_{0};               // by the handler for the last of them
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
