#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include <zmq.hpp>

#include "core/base/open_files.h"
#include "core/net/host_port.h"
#include "core/net/zmq/zmq_monitor.h"
#include "core/net/zmq/zmq_socket.h"
#include "core/net/zmq/zmq_transport.h"

namespace forebay {

/// The file descriptors that are free for connections; some are reserved for files.
///
/// Counts open descriptors (free_descriptors) once a second, and on every call of look() while few
/// are left. Belongs to one thread.
class DescriptorRoom {
 public:
  using Time = std::chrono::nanoseconds;
  using Count = std::size_t (*)();

  /// `kept` is the number of descriptors reserved for files; 0: connections are not limited.
  explicit DescriptorRoom(std::size_t kept, Count count = &free_descriptors)
      : kept_(kept), count_(count) {}

  /// Updates the count; at most `taken` descriptors were taken since the last call.
  void look(Time now, std::size_t taken) {
    if (kept_ == 0) return;
    free_ -= taken < free_ ? taken : free_;
    if (now < next_count_ && free_ > 2 * kept_) return;
    next_count_ = now + std::chrono::seconds(1);
    free_ = count_();
  }

  /// Whether another peer may have a session.
  bool admits() const { return free_ >= kept_; }
  /// Whether to close connections without a session, and to accept no more until is_calm().
  /// Refusing a peer with a message needs one. ZeroMQ's thread accepts more connections before this
  /// takes effect; these and the files use the other descriptors.
  bool is_short() const { return free_ < kept_ * 5 / 16; }
  bool is_calm() const { return free_ >= kept_ * 3 / 8; }

 private:
  const std::size_t kept_;
  const Count count_;
  std::size_t free_ = ~std::size_t{0};  // before the first count
  Time next_count_{0};
};

/// The listening ROUTER socket and the connections still in handshake.
///
/// Creates the listening socket itself: while too many connections are unauthenticated, the kernel
/// drops new ones (their peers retry) and leaves the established ones alone. A connection that does
/// not begin a session in time is closed. Belongs to the transport's thread.
class ZmqListener {
 public:
  using Time = std::chrono::nanoseconds;

  static Result<std::unique_ptr<ZmqListener>> open(zmq::context_t& context, const HostPort& address,
                                                   const ZmqTransport::Options& options);
  ZmqListener(const ZmqListener&) = delete;
  ZmqListener& operator=(const ZmqListener&) = delete;

  PolledSocket& router() { return router_; }
  PolledSocket& monitor() { return monitor_.socket(); }
  const std::string& address() const { return address_; }

  /// Reads the monitor's events about new and closed connections; returns true if there were any.
  bool read_monitor(Time now);

  /// Marks the connection `fd` as belonging to a session.
  void accept(int fd);

  /// Closes the connection `fd`, if `fd` still is a connection of this listener.
  void cut(int fd) const;

  /// Closes unauthenticated connections that are too old, and pauses or resumes listening.
  void limit_unauthenticated(Time now, TransportCounts& counts);

  /// Whether enough descriptors are free for another session.
  bool admits() const { return room_.admits(); }

 private:
  struct Connection {
    Time since{0};
    bool shaken = false;  // ZeroMQ's handshake is over.
    bool accepted = false;
    bool cut = false;
  };

  ZmqListener(zmq::context_t& context, int fd, std::string address,
              const ZmqTransport::Options& options);
  void pause_listening();
  void resume_listening();
  void cut_all_strangers(TransportCounts& counts);

  const ZmqTransport::Options& options_;
  const int listening_;  // ZeroMQ owns and closes it.
  const std::string address_;
  PolledSocket router_;
  ZmqMonitor monitor_;
  DescriptorRoom room_{options_.kept_descriptors};
  std::size_t accepted_ = 0;  // since the last call of limit_unauthenticated
  bool closed_ = false;
  std::map<int, Connection> connections_;
};

}  // namespace forebay
