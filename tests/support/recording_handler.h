#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/net/transport.h"

namespace forebay::test {

inline std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A frame that owns a copy of `text`.
inline Frame frame_of(std::string text) {
  auto keeper = std::make_shared<const std::string>(std::move(text));
  const auto* data = reinterpret_cast<const std::byte*>(keeper->data());
  const std::size_t size = keeper->size();
  return {std::move(keeper), data, size};
}

/// Records the events of a transport; a test waits until enough have arrived.
class RecordingHandler final : public TransportHandler {
 public:
  struct Message {
    PeerId peer = PeerId::kNone;
    std::string head;
    Frames body;
  };
  struct Seen {
    std::vector<std::pair<PeerId, PeerInfo>> up;
    std::vector<std::pair<PeerId, Error>> down;
    std::vector<Message> messages;
  };

  void on_peer_up(PeerId peer, const PeerInfo& info) override {
    note([&] { seen_.up.emplace_back(peer, info); });
  }
  void on_peer_down(PeerId peer, const Error& reason) override {
    note([&] { seen_.down.emplace_back(peer, reason); });
  }
  void on_message(PeerId peer, std::span<const std::byte> head, Frames body) override {
    note([&] { seen_.messages.push_back({peer, text_of(head), std::move(body)}); });
  }

  /// Waits, up to half a minute, until `enough`; returns the recorded events.
  Seen wait(const std::function<bool(const Seen&)>& enough) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return enough(seen_); });
    return seen_;
  }
  Seen wait_up(std::size_t count) {
    return wait([=](const Seen& seen) { return seen.up.size() >= count; });
  }
  Seen wait_down(std::size_t count) {
    return wait([=](const Seen& seen) { return seen.down.size() >= count; });
  }
  Seen wait_messages(std::size_t count) {
    return wait([=](const Seen& seen) { return seen.messages.size() >= count; });
  }
  Seen seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  void forget_messages() {
    const std::lock_guard lock(mutex_);
    seen_.messages.clear();
  }

 private:
  template <class Note>
  void note(Note take) {
    const std::lock_guard lock(mutex_);
    take();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Seen seen_;  // under mutex_
};

}  // namespace forebay::test
