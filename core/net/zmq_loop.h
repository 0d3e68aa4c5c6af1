#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <zmq.hpp>

#include "core/net/wire_header.h"
#include "core/net/zap_authenticator.h"
#include "core/net/zmq_frames.h"
#include "core/net/zmq_session.h"
#include "core/net/zmq_transport.h"

namespace forebay {

/// The thread of a ZmqTransport and all its state.
///
/// Any thread may call the public methods; they queue work and wake the thread if it sleeps.
/// Everything else runs on that thread, with one exception: if a single message is sent while the
/// thread sleeps, the sender takes the `turn_` lock and sends the message itself, which saves
/// waking the thread. Messages in a stream are left to the thread and share parcels: it looks for
/// more after a short wait, so senders need not wake it.
class ZmqTransport::Loop {
 public:
  Loop(Options options, const Clock& clock);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start(TransportHandler& handler);
  Result<std::string> listen(const std::string& address);
  Status connect(const std::string& address);
  void post(std::function<void()> order);
  void disconnect(const std::string& address);
  Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames&& body);
  void close(PeerId peer, const std::string& reason);
  void stop();
  TransportCounts counts() const;

 private:
  using Time = std::chrono::nanoseconds;
  using SessionPtr = std::shared_ptr<ZmqSession>;

  /// A dialler that sent kHello on at least one lane to our router.
  struct Handshake {
    std::array<std::optional<std::string>, 2> routes;
    std::array<int, 2> fds{-1, -1};
    ZmqListener* listener = nullptr;
    PeerInfo info;
    Time since{0};
    std::uint64_t heartbeat = 0;  // as the dialler gave it, in ns
  };

  /// Where a message was received.
  struct Source {
    ZmqListener* listener = nullptr;  // either `listener` or `dialer` is set
    ZmqDialer* dialer = nullptr;
    std::string_view route;
    std::size_t lane = 0;  // of the dialler's socket
  };

  void announce(const SessionPtr& session);
  void wake();
  bool send_at_once(const SessionPtr& session);

  void run();
  bool run_orders();
  void sleep(std::unique_lock<std::mutex>& turn);
  void tick();
  void keep_sessions();
  void beat();
  Time beat_wanted() const;
  void keep_dialers();
  void finish();

  bool receive_all();
  bool receive_from(ZmqListener& listener);
  bool receive_from(ZmqDialer& dialer, std::size_t lane);
  void take(const Source& source, std::span<zmq::message_t> parts);
  void take_unauthenticated(const Source& source, const zmq::message_t& first);
  void take_hello(const Source& source, const WireHeader& header, const zmq::message_t& first);
  void take_accepted(const Source& source, const WireHeader& header, const zmq::message_t& first);
  void take_bye(const Source& source, const WireHeader& header, std::span<const std::byte> bytes);
  void take_data(const Source& source, const WireHeader& header, std::span<zmq::message_t> parts);
  SessionPtr session_of(const Source& source, const WireHeader& header);
  void refuse_for_descriptors(const Source& source, const WireHeader& header);
  void begin(std::uint64_t number, Handshake& handshake);
  void add_session(const SessionPtr& session, const PeerInfo& info);
  void garbage(const SessionPtr& session, const std::string& what);

  bool send_all();
  std::size_t flush(ZmqSession& session);
  void say(PolledSocket& socket, const std::string& route, const WireHeader& header,
           const std::string& text = {});
  void end(const SessionPtr& session, const Error& reason, bool say_bye);
  Result<std::string> open(const HostPort& address);

  const Options options_;
  const Clock& clock_;
  // Guards sockets and sessions: held by the thread while it works, or by a sender in its place.
  std::mutex turn_;
  TransportHandler* handler_ = nullptr;
  zmq::context_t context_;
  const int wake_fd_;

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // under mutex_, as all below
  std::vector<SessionPtr> announced_;
  std::unordered_map<std::uint64_t, SessionPtr> by_id_;  // written by the thread alone
  TransportCounts published_counts_;
  bool stopping_ = false;
  std::atomic<bool> sleeping_{false};

  // Accessed by the thread, or by a sender that holds `turn_`.
  std::optional<ZapAuthenticator> zap_;
  std::vector<std::unique_ptr<ZmqListener>> listeners_;
  std::vector<std::unique_ptr<ZmqDialer>> dialers_;
  std::unordered_map<std::uint64_t, SessionPtr> by_number_;
  std::map<std::uint64_t, Handshake> handshakes_;
  std::vector<SessionPtr> unsent_;
  TransportCounts counts_;
  Parts parts_;
  Time now_{0};
  Time next_tick_{0};
  Time next_beat_{0};
  Time beat_every_{options_.heartbeat};
  bool streaming_ = false;
  bool slept_ = false;  // since the sessions in unsent_ were tried
  std::uint64_t num_peers_ = 0;
  std::optional<std::thread> thread_;
  std::thread::id thread_id_;  // set before the first send
};

}  // namespace forebay
