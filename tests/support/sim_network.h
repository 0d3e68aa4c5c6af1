#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/net/transport.h"

namespace forebay::test {

class SimTransport;

/// Connects transports in one process, in simulated time, with faults drawn by a seed.
/// Single-threaded: messages move in `step`.
///
/// As TCP does, a session delays messages and, when its link is cut, holds them back until the link
/// heals or the ends give the session up, each on its own. With `hostile` it does what our
/// transports never do: it drops, repeats and swaps messages inside a session.
class SimNetwork {
 public:
  using Time = std::chrono::nanoseconds;

  struct Faults {
    Time delay = std::chrono::milliseconds(1);  ///< Up to so much for each message.
    double drop = 0;                            ///< Share of messages; hostile, as those below.
    double repeat = 0;
    double swap = 0;
  };

  explicit SimNetwork(std::uint64_t seed) : random_(seed) {}

  /// Receives the log lines of the processes, if it is set.
  std::function<void(const std::string&)> log;

  Faults faults;
  Time dead_after = std::chrono::milliseconds(1500);  ///< A silent session is given up then.
  std::size_t max_backlog = 1 << 20;                  ///< Bytes that may wait for a peer.

  /// Delivers the messages due at `now`, in rounds of one message a lane.
  void step(Time now);

  /// The link between two transports, one direction: what `from` sends does not reach `to`.
  void cut(const std::string& from, const std::string& to) { cuts_.insert({from, to}); }
  void heal_all() { cuts_.clear(); }

 private:
  friend class SimTransport;

  struct Message {
    Time due = {};
    std::vector<std::byte> head;
    Frames body;
  };
  struct End {
    SimTransport* transport = nullptr;  // Absent once its process is gone.
    std::string name;
    PeerId peer = PeerId::kNone;  // This end's id of the session.
    std::string dialled;          // The address, at the end that connected.
    bool open = true;
    Time heard = {};
    std::size_t backlog = 0;                           // Bytes on their way from here.
    std::array<std::deque<Message>, 2> outgoing = {};  // By lane.
  };
  struct Session {
    std::array<End, 2> ends;
  };

  void connect_dialling(Time now);
  bool is_cut(const End& from, const End& to) const { return cuts_.contains({from.name, to.name}); }
  void deliver(Session& session, std::size_t from, Time now);
  void give_up_silent(Session& session, Time now);
  Status send(SimTransport& from, PeerId peer, Lane lane, std::span<const std::byte> head,
              const Frames& body);
  void close(SimTransport& from, PeerId peer);
  void forget(SimTransport& gone);

  Random random_;
  Time now_ = {};
  std::uint64_t num_peers_ = 0;
  std::set<SimTransport*> transports_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::set<std::pair<std::string, std::string>> cuts_;
};

/// A process's transport. It dies with its process: its sessions break without a message.
class SimTransport final : public Transport {
 public:
  SimTransport(SimNetwork& network, std::string name) : network_(network), name_(std::move(name)) {
    network_.transports_.insert(this);
  }
  ~SimTransport() override { die(); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  void start(TransportHandler& handler) override { handler_ = &handler; }
  Result<std::string> listen(const std::string& address) override {
    listening_ = address;
    return address;
  }
  Status connect(const std::string& address) override {
    dialling_.insert(address);
    return {};
  }
  void disconnect(const std::string& address) override { dialling_.erase(address); }
  Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) override {
    return network_.send(*this, peer, lane, head, body);
  }
  void close(PeerId peer, const std::string&) override { network_.close(*this, peer); }
  void stop() override { die(); }

  /// The session with the listener at that address, or kNone.
  PeerId peer_at(const std::string& address) const {
    const auto found = dialled_.find(address);
    return found == dialled_.end() ? PeerId::kNone : found->second;
  }

  /// Its process is frozen: it receives and sends nothing; its peers may give it up.
  bool frozen = false;

  /// Receives the log lines of its process.
  std::function<void(const std::string&)> say() const {
    return [this](const std::string& what) {
      if (network_.log) network_.log(name_ + ": " + what);
    };
  }

  /// From here on it sends and receives nothing.
  void die() {
    if (std::exchange(dead_, true)) return;
    network_.forget(*this);
  }

 private:
  friend class SimNetwork;

  SimNetwork& network_;
  const std::string name_;
  TransportHandler* handler_ = nullptr;
  std::string listening_;
  std::set<std::string> dialling_;
  std::map<std::string, PeerId> dialled_;
  bool dead_ = false;
};

}  // namespace forebay::test
