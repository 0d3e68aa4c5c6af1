#pragma once

#include <cstdint>
#include <string>

#include <zmq.hpp>

#include "core/net/key_folder.h"
#include "core/net/polled_socket.h"

namespace forebay {

/// Says which CURVE clients are let in: those whose public key is in a folder (ZAP, RFC 27).
///
/// Owns the socket that libzmq asks. Belongs to the transport's thread. A key that is added or
/// taken away counts from the next connection on, one that is written over another within seconds.
/// Lets nobody in while the folder cannot be read (key_folder.h).
class ZapAuthenticator {
 public:
  static constexpr const char* kEndpoint = "inproc://zeromq.zap.01";

  /// Before a socket with keys is bound in `context`.
  ZapAuthenticator(zmq::context_t& context, std::string folder, KeyFolder::Say say);

  PolledSocket& socket() { return socket_; }

  /// Answers every request that waits. True when there was one.
  bool serve(KeyFolder::Time now);

  /// Looks at the keys when it is time, so that what is wrong with them is said.
  void look(KeyFolder::Time now) { keys_.look(now); }

  std::uint64_t refused() const { return refused_; }

 private:
  PolledSocket socket_;
  KeyFolder keys_;
  std::uint64_t refused_ = 0;
};

}  // namespace forebay
