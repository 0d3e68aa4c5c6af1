#include "core/net/host_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <netdb.h>

#include "core/base/descriptor.h"
#include "core/base/text/number.h"

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

/// A socket that is bound to a port of this host's addresses; empty, with errno set, on failure.
Descriptor bound_socket(in_addr_t host, std::uint16_t port, bool reuse) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  const int yes = reuse ? 1 : 0;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(host);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(socket.number(), any, sizeof(address)) == 0 ? std::move(socket) : Descriptor();
}

}  // namespace

std::string HostPort::text() const {
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return shown + ":" + std::to_string(port);
}

Result<HostPort> parse_address(const std::string& address) {
  const auto refuse = [&] {
    return fail(Code::kInvalid, "address " + address + ": wants HOST:PORT, such as 127.0.0.1:7000");
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return refuse();
  HostPort parts{.host = address.substr(0, colon)};
  if (parts.host.front() == '[' && parts.host.back() == ']') {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  } else if (parts.host.find(':') != std::string::npos) {
    return refuse();
  }
  const auto port = parse_number<decltype(parts.port)>(std::string_view(address).substr(colon + 1));
  if (!port || parts.host.empty()) return refuse();
  parts.port = *port;
  if (parts.host == "localhost") parts.host = "127.0.0.1";  // Whatever the resolver says.
  return parts;
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

Status check_address_policy(const std::string& address, bool has_keys) {
  const Result<HostPort> parts = parse_address(address);
  if (!parts) return tl::unexpected<Error>(parts.error());
  if (has_keys || is_loopback(parts->host)) return {};
  return fail(Code::kInvalid,
              "address " + address +
                  " can be reached from other machines and no keys are given: make some with "
                  "`forebay keys new`, and name their folder by cluster.keys in a job, by --keys "
                  "of a head or worker");
}

std::uint16_t local_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family != AF_INET6) return 0;
  return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

Result<std::uint16_t> free_port() {
  // Not reused, so that two calls at once cannot find the same port.
  const Descriptor socket = bound_socket(INADDR_LOOPBACK, 0, false);
  const std::uint16_t port = socket ? local_port(socket.number()) : std::uint16_t{0};
  if (port > 0) return port;
  return fail(Code::kUnavailable,
              std::string("no port of the loopback can be had: ") + std::strerror(errno));
}

int try_port(std::uint16_t port) { return bound_socket(INADDR_ANY, port, true) ? 0 : errno; }

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

}  // namespace forebay
