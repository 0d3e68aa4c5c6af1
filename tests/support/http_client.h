#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdint>
#include <string>

#include "core/base/descriptor.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// A connection to an HTTP server on loopback. It waits for bytes 20 s at most, so that a server
/// that never answers fails a test.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) {
      ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_.number(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  }

  void send(const std::string& text) const {
    ::send(socket_.number(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// Receives until `end` is in the text; with "", until the server closes the connection.
  std::string receive(const std::string& end = "") const {
    std::string text;
    while (end.empty() || text.find(end) == std::string::npos) {
      std::string piece(4096, '\0');
      const ssize_t got = ::recv(socket_.number(), piece.data(), piece.size(), 0);
      if (got <= 0) break;
      text.append(piece, 0, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  const Descriptor socket_;
};

}  // namespace forebay::test
