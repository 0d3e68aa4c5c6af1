#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "core/base/check.h"

namespace forebay::test {

/// A port of the loopback that nobody has now.
inline std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  FOREBAY_CHECK(socket >= 0 && ::bind(socket, any, length) == 0);
  FOREBAY_CHECK(::getsockname(socket, any, &length) == 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

}  // namespace forebay::test
