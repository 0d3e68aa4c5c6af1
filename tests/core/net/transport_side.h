#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/net/host_port.h"
#include "core/net/zmq/zmq_transport.h"
#include "tests/support/recording_handler.h"

namespace forebay::test {

inline const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

/// A transport and its recorded events; stopped at the end.
struct Side {
  explicit Side(ZmqTransport::Options options = {})
      : made(ZmqTransport::make(std::move(options), system_clock())), transport(*made) {
    transport.start(handler);
  }
  ~Side() { transport.stop(); }

  PeerId peer(std::size_t number = 1) { return handler.wait_up(number).up.at(number - 1).first; }
  Status tell(PeerId to, std::string_view text, Frames body = {}) {
    const Lane lane = body.empty() ? Lane::kControl : Lane::kBulk;
    return transport.send(to, lane, bytes_of_text(text), std::move(body));
  }

  /// Waits, up to half a minute, until the counts match; looks a hundred times a second.
  template <class Enough>
  bool wait_counts(Enough enough) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    for (int look = 0; look < 3000; ++look) {
      if (enough(transport.counts())) return true;
      never.wait_for(lock, std::chrono::milliseconds(10));
    }
    return false;
  }

  RecordingHandler handler;
  const std::unique_ptr<ZmqTransport> made;
  ZmqTransport& transport;
};

/// Short times, for tests of timeouts; yet long enough that no session is lost when a shared
/// machine stands still for a second or two.
inline ZmqTransport::Options quick() {
  ZmqTransport::Options options;
  options.heartbeat = std::chrono::milliseconds(50);
  options.lost_after = 100;
  options.handshake = std::chrono::seconds(1);
  return options;
}

}  // namespace forebay::test
