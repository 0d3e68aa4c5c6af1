#include "core/net/host_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "core/base/descriptor.h"

namespace forebay {

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
  const char* begin = address.data() + colon + 1;
  const char* end = address.data() + address.size();
  const auto parsed = std::from_chars(begin, end, parts.port);
  if (parsed.ec != std::errc() || parsed.ptr != end || parts.host.empty()) return refuse();
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
                  " can be reached from other machines and cluster.keys is not set: "
                  "make keys with `forebay keys new` and set cluster.keys to their folder");
}

Result<std::uint16_t> free_port() {
  const auto refuse = [] {
    return fail(Code::kUnavailable,
                std::string("no port of the loopback can be had: ") + std::strerror(errno));
  };
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return refuse();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.number(), any, length) != 0) return refuse();
  if (::getsockname(socket.number(), any, &length) != 0) return refuse();
  return ntohs(address.sin_port);
}

}  // namespace forebay
