#include "core/net/tcp_port.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include <netdb.h>

#include "core/base/descriptor.h"

namespace forebay {
namespace {

bool can_connect(const addrinfo& to, std::chrono::milliseconds most) {
  const Descriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return false;
  if (::connect(socket.number(), to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd wait{socket.number(), POLLOUT, 0};
  int error = 0;
  socklen_t size = sizeof(error);
  return ::poll(&wait, 1, static_cast<int>(most.count())) == 1 &&
         ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

bool is_listened_at(const std::string& host, std::uint16_t port, std::chrono::milliseconds most) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return false;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (can_connect(*each, most)) return true;
  }
  return false;
}

int try_port(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int yes = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(socket.number(), any, sizeof(address)) == 0 ? 0 : errno;
}

}  // namespace forebay
