#pragma once

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

namespace forebay {

/// The transport: its thread, its sockets and the work that other threads leave for it.
///
/// Any thread may call the public methods; they queue work and wake the thread if it sleeps.
/// Everything else runs on that thread, with one exception: if a single message is sent while the
/// thread sleeps, the sender takes the `turn_` lock and sends the message itself, which saves
/// waking the thread. Messages in a stream are left to the thread and share parcels: it looks for
/// more after a short wait, so senders need not wake it.
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
  void close(PeerId peer, const std::string& reason) override;
  void stop() override;
  TransportCounts counts() const override;

 private:
  using Time = std::chrono::nanoseconds;
  using SessionPtr = ZmqSessions::SessionPtr;

  void post(std::function<void()> order);
  void announce(const SessionPtr& session);
  void wake();
  bool send_at_once(const SessionPtr& session);

  void run();
  void run_orders();
  void sleep(std::unique_lock<std::mutex>& turn);
  void tick();
  void keep_dialers();
  void finish();

  void receive_all();
  void receive_from(ZmqListener& listener);
  void receive_from(ZmqDialer& dialer, std::size_t lane);
  void send_all();
  Result<std::string> open(const HostPort& address);

  const Options options_;
  const Clock& clock_;
  // Guards sockets and sessions: held by the thread while it works, or by a sender in its place.
  std::mutex turn_;
  zmq::context_t context_;
  const Descriptor wake_fd_;

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // under mutex_, as all below
  std::vector<SessionPtr> announced_;
  TransportCounts published_counts_;
  std::atomic<bool> sleeping_{false};

  // Accessed by the thread, or by a sender that holds `turn_`; sessions_.find(PeerId) by any
  // thread.
  std::optional<ZapAuthenticator> zap_;
  std::vector<std::unique_ptr<ZmqListener>> listeners_;
  std::vector<std::unique_ptr<ZmqDialer>> dialers_;
  ZmqSessions sessions_{options_};
  std::vector<SessionPtr> unsent_;
  Parts parts_;
  Time now_{0};
  Time next_tick_{0};
  bool stopping_ = false;
  bool streaming_ = false;
  bool slept_ = false;  // since the sessions in unsent_ were tried
  std::optional<std::thread> thread_;
  std::thread::id thread_id_;  // set before the first send
};

}  // namespace forebay
