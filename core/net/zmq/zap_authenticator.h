#pragma once

#include <cstdint>
#include <string>

#include <zmq.hpp>

#include "core/net/key_folder.h"
#include "core/net/zmq/zmq_socket.h"

namespace forebay {

/// Decides which CURVE clients may connect: clients whose public key is in a folder (ZAP, RFC 27).
///
/// Owns the socket that libzmq sends its requests to. Belongs to the transport's thread. An added
/// or removed key counts from the next connection on; a key that replaced another one in the same
/// file counts within seconds. Refuses every client while the folder cannot be read (key_folder.h).
class ZapAuthenticator {
 public:
  static constexpr const char* kEndpoint = "inproc://zeromq.zap.01";

  /// Create it before a socket with keys is bound in `context`.
  ZapAuthenticator(zmq::context_t& context, std::string folder, KeyFolder::Say say);

  PolledSocket& socket() { return socket_; }

  /// Answers all waiting requests.
  void serve(KeyFolder::Time now);

  /// Scans the keys when it is time, so that problems with them are reported.
  void look(KeyFolder::Time now) { keys_.look(now); }

  std::uint64_t refused() const { return refused_; }

 private:
  PolledSocket socket_;
  KeyFolder keys_;
  std::uint64_t refused_ = 0;
};

}  // namespace forebay
