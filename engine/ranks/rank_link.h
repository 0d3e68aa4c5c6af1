#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/net/zmq/zmq_transport.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_messages.h"

namespace forebay {

/// Receives a RankLink's events: one call at a time, on the transport's thread. No call may block
/// for long.
class RankListener {
 public:
  virtual ~RankListener() = default;
  /// A rank has connected. Called before its messages are delivered.
  virtual void on_hello(int /*rank*/, const RankHello& /*hello*/) {}
  virtual void on_message(int rank, RankMessage message) = 0;
  /// A rank that had connected is lost.
  virtual void on_lost(int rank, const std::string& why) = 0;
};

/// One rank of a run, and how it reaches the others.
struct RankOptions {
  int rank = 0;
  int size = 1;
  std::string group;             ///< Identifies the start that all ranks belong to.
  std::string keys;              ///< As `cluster.keys`.
  std::string alike = {};        ///< Text that must be equal on all ranks.
  std::string address = {};      ///< Rank 0: HOST:0 to listen on; others: RankLeader::address.
  std::uint64_t batch_size = 0;  ///< Of all ranks together. Not used by rank 0.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  /// Polled by all ranks but 0. The first result other than 0 is sent to rank 0.
  std::function<int()> stop_signal = {};
  /// Rank 0: a rank was asked to stop, on the link's thread. Others: rank 0 was asked to stop
  /// before all ranks had met.
  std::function<void(int signal)> on_stop = {};
  std::function<void(const std::string&)> say = {};  ///< Receives a sentence for the user.
  std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
  /// Missed heartbeats after which a rank is lost. A rank on a busy machine may be delayed for a
  /// while, and its loss ends the run.
  int lost_after = 12;
};

/// Messages between rank 0, which listens, and each other rank, which connects.
///
/// Owns a transport. Closes the connection of a peer that does not begin with a RankHello of this
/// group, or that sends something other than a RankMessage. Any thread may send.
class RankLink final : TransportHandler {
 public:
  /// Reads the keys. `listener` outlives stop(). Counts received bytes in `received` if it is set.
  static Result<std::unique_ptr<RankLink>> make(const RankOptions& options, RankListener& listener,
                                                const Clock& clock,
                                                MemoryBudget* received = nullptr);
  ~RankLink() override;

  /// Rank 0 only. Returns the address it really listens on.
  Result<std::string> listen(const std::string& address);
  /// Other ranks only. Connects to rank 0, keeps the session up and sends the hello.
  Status connect(const std::string& address);

  /// Waits until every other rank has said hello (on rank 0), or until the session with rank 0 is
  /// up. The error names the missing ranks.
  Status wait_for_all(std::chrono::nanoseconds most);

  Status send(int rank, const RankMessage& message);

  /// Ends the sessions; `listener` is not called afterwards.
  void stop() { transport_->stop(); }

 private:
  RankLink(RankOptions options, RankListener& listener)
      : options_(std::move(options)), listener_(listener) {}

  void on_peer_up(PeerId peer, const PeerInfo& info) override;
  void on_peer_down(PeerId peer, const Error& reason) override;
  void on_message(PeerId peer, std::span<const std::byte> head, Frames body) override;
  Status send_to(PeerId peer, const RankMessage& message);
  int rank_of(PeerId peer);
  void greet(PeerId peer, const RankMessage& first);

  const RankOptions options_;
  RankListener& listener_;
  bool has_keys_ = false;
  std::unique_ptr<ZmqTransport> transport_;
  Synchronized<std::map<int, PeerId>> peers_;
};

}  // namespace forebay
