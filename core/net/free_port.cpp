#include "core/net/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace forebay {

Result<std::uint16_t> free_port() {
  const auto refuse = [](int error) {
    return fail(Code::kUnavailable,
                std::string("no port of the loopback can be had: ") + std::strerror(error));
  };
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return refuse(errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(socket, any, length) == 0 && ::getsockname(socket, any, &length) == 0;
  const int error = errno;
  ::close(socket);
  if (!bound) return refuse(error);
  return ntohs(address.sin_port);
}

}  // namespace forebay
