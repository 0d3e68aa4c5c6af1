#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/net/transport.h"

namespace forebay::test {

/// A transport with faults by seed: messages that another transport would deliver in order and once
/// are dropped, repeated, held back or changed, or end their session.
///
/// Sits between a transport and its handler, and changes only incoming messages. A message that is
/// held back is delivered behind the next ones; `release` delivers all of them. Everything happens
/// on the inner transport's thread except `release`, which is for a transport without threads.
class FaultyTransport final : public Transport, private TransportHandler {
 public:
  /// Chances for each message that arrives.
  struct Faults {
    double drop = 0;
    double repeat = 0;
    double hold = 0;  ///< Delays it behind up to four others: reorders.
    double corrupt = 0;
    double cut = 0;  ///< Ends the session.
  };
  struct Counts {
    std::size_t dropped = 0;
    std::size_t repeated = 0;
    std::size_t held = 0;
    std::size_t corrupted = 0;
    std::size_t cut = 0;
  };

  FaultyTransport(Transport& inner, const Faults& faults, std::uint64_t seed)
      : inner_(inner), faults_(faults), random_(seed) {}

  void start(TransportHandler& handler) override {
    handler_ = &handler;
    inner_.start(*this);
  }
  Result<std::string> listen(const std::string& address) override { return inner_.listen(address); }
  Status connect(const std::string& address) override { return inner_.connect(address); }
  void disconnect(const std::string& address) override { inner_.disconnect(address); }
  Status send(PeerId peer, Lane lane, std::span<const std::byte> head, Frames body) override {
    return inner_.send(peer, lane, head, std::move(body));
  }
  void close(PeerId peer, const std::string& reason) override { inner_.close(peer, reason); }
  void stop() override { inner_.stop(); }

  /// Delivers all messages that are held back.
  void release() {
    while (!held_.empty()) deliver_held();
  }

  void set_faults(const Faults& faults) { faults_ = faults; }
  const Counts& counts() const { return counts_; }

 private:
  struct Held {
    PeerId peer;
    std::vector<std::byte> head;
    Frames body;
    std::uint32_t wait;  // so many messages more
  };

  void on_peer_up(PeerId peer, const PeerInfo& info) override { handler_->on_peer_up(peer, info); }
  void on_peer_down(PeerId peer, const Error& reason) override {
    std::erase_if(held_, [peer](const Held& held) { return held.peer == peer; });
    handler_->on_peer_down(peer, reason);
  }

  void on_message(PeerId peer, std::span<const std::byte> head, Frames body) override {
    if (happens(faults_.cut)) {
      ++counts_.cut;
      return inner_.close(peer, "cut by chance");
    }
    std::vector<std::byte> bytes(head.begin(), head.end());
    if (happens(faults_.corrupt) && !bytes.empty()) {
      ++counts_.corrupted;
      bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1 + random_.below(255));
    }
    if (happens(faults_.drop)) {
      ++counts_.dropped;
    } else if (happens(faults_.hold)) {
      ++counts_.held;
      held_.push_back({peer, std::move(bytes), std::move(body), 1 + random_.below(4)});
    } else {
      handler_->on_message(peer, bytes, body);
      if (happens(faults_.repeat)) {
        ++counts_.repeated;
        handler_->on_message(peer, bytes, body);
      }
    }
    for (Held& held : held_) held.wait -= std::min(held.wait, 1u);
    while (!held_.empty() && held_.front().wait == 0) deliver_held();
  }

  void deliver_held() {
    const Held held = std::move(held_.front());
    held_.pop_front();
    handler_->on_message(held.peer, held.head, held.body);
  }

  bool happens(double chance) { return chance > 0 && random_.uniform() < chance; }

  Transport& inner_;
  Faults faults_;
  Random random_;
  TransportHandler* handler_ = nullptr;
  std::deque<Held> held_;
  Counts counts_;
};

}  // namespace forebay::test
