#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/net/transport.h"

namespace forebay::test {

class LocalTransport;

/// Connects transports in one process, without threads: `deliver_one` moves messages, in their
/// order.
class LocalNetwork {
 public:
  /// Delivers the oldest message or event; false when there is none.
  bool deliver_one() {
    if (events_.empty()) return false;
    const auto event = std::move(events_.front());
    events_.pop_front();
    event();
    return true;
  }
  void deliver_all() {
    while (deliver_one()) {
    }
  }

 private:
  friend class LocalTransport;
  std::deque<std::function<void()>> events_;
  std::map<std::string, LocalTransport*> listening_;
  std::uint64_t num_sessions_ = 0;
};

/// One endpoint. A session begins with `connect`, if another one listens, and ends with `close`.
class LocalTransport final : public Transport {
 public:
  explicit LocalTransport(LocalNetwork& network) : network_(network) {}

  void start(TransportHandler& handler) override { handler_ = &handler; }
  Result<std::string> listen(const std::string& address) override {
    network_.listening_[address] = this;
    return address;
  }
  Status connect(const std::string& address) override {
    network_.events_.emplace_back([this, address] {
      const auto there = network_.listening_.find(address);
      if (there == network_.listening_.end()) return;
      const PeerId session{++network_.num_sessions_};
      others_[session] = there->second;
      there->second->others_[session] = this;
      there->second->handler_->on_peer_up(session, {});
      handler_->on_peer_up(session, {.address = address, .host = {}, .key = {}});
    });
    return {};
  }
  void disconnect(const std::string&) override {}

  Status send(PeerId peer, Lane, std::span<const std::byte> head, Frames body) override {
    const auto found = others_.find(peer);
    if (found == others_.end()) return fail(Code::kUnavailable, "the session is over");
    if (refuses_with) return tl::unexpected<Error>(*refuses_with);
    LocalTransport* other = found->second;
    sent_frame_bytes += bytes_of(body);
    network_.events_.emplace_back(
        [other, peer, bytes = std::vector<std::byte>(head.begin(), head.end()), body] {
          if (other->others_.contains(peer)) other->handler_->on_message(peer, bytes, body);
        });
    return {};
  }

  void close(PeerId peer, const std::string& reason) override {
    const auto found = others_.find(peer);
    if (found == others_.end()) return;
    LocalTransport* other = found->second;
    others_.erase(peer);
    other->others_.erase(peer);
    const Error error{Code::kUnavailable, reason};
    handler_->on_peer_down(peer, error);
    other->handler_->on_peer_down(peer, error);
  }

  void stop() override {
    std::erase_if(network_.listening_, [this](const auto& one) { return one.second == this; });
    while (!others_.empty()) close(others_.begin()->first, "stopped");
  }

  std::size_t sent_frame_bytes = 0;   ///< To all peers.
  std::optional<Error> refuses_with;  ///< The result of every `send` from now on.

 private:
  LocalNetwork& network_;
  TransportHandler* handler_ = nullptr;
  std::map<PeerId, LocalTransport*> others_;
};

}  // namespace forebay::test
