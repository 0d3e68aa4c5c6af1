#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <zmq.hpp>

#include "core/base/result.h"
#include "core/net/polled_socket.h"

namespace forebay {

/// Says which CURVE clients are let in: those whose public key is in a folder (ZAP, RFC 27).
///
/// Owns the socket that libzmq asks. Belongs to the transport's thread. The folder is read again
/// when it has changed, so a key that is added or taken away counts from the next connection on.
/// Lets nobody in while the folder cannot be read.
class ZapAuthenticator {
 public:
  static constexpr const char* kEndpoint = "inproc://zeromq.zap.01";

  /// Before a socket with keys is bound in `context`.
  ZapAuthenticator(zmq::context_t& context, std::string folder);

  PolledSocket& socket() { return socket_; }

  /// Answers every request that waits. True when there was one.
  bool serve();

  std::uint64_t refused() const { return refused_; }

 private:
  bool is_known(const std::string& key);
  void read_again();

  PolledSocket socket_;
  const std::string folder_;
  std::filesystem::file_time_type read_at_{};
  std::set<std::string> known_;
  std::uint64_t refused_ = 0;
};

}  // namespace forebay
