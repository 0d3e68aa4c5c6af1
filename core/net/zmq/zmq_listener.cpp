#include "core/net/zmq/zmq_listener.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <netdb.h>

namespace forebay {
namespace {

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

/// The port that a socket is bound to, or 0.
std::uint16_t local_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  return port_of(address);
}

/// Returns a socket that listens at `address`, or -1 with errno set.
int listen_at(const addrinfo& address, int backlog) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(fd, address.ai_addr, address.ai_addrlen) == 0 && ::listen(fd, backlog) == 0) return fd;
  const int why = errno;
  ::close(fd);
  errno = why;
  return -1;
}

Result<int> listen_at(const HostPort& address, int backlog) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found)) {
    return fail(Code::kInvalid, "address " + address.text() + ": " + ::gai_strerror(error));
  }
  const int fd = listen_at(*found, backlog);
  const int why = errno;
  ::freeaddrinfo(found);
  if (fd >= 0) return fd;
  return fail(Code::kUnavailable,
              "cannot listen at " + address.text() + ": " + std::generic_category().message(why));
}

}  // namespace

Result<std::unique_ptr<ZmqListener>> ZmqListener::open(zmq::context_t& context,
                                                       const HostPort& address,
                                                       const ZmqTransport::Options& options) {
  // All connections in the kernel's backlog may be accepted at once, before listening is paused.
  const int backlog = options.kept_descriptors == 0
                          ? options.backlog
                          : std::clamp(static_cast<int>(options.kept_descriptors / 4), 4,
                                       std::max(options.backlog, 4));
  Result<int> fd = listen_at(address, backlog);
  if (!fd) return pass(fd);
  const HostPort real{address.host, local_port(*fd)};
  try {
    return std::unique_ptr<ZmqListener>(new ZmqListener(context, *fd, real.text(), options));
  } catch (const zmq::error_t& thrown) {
    ::close(*fd);
    return fail(Code::kUnavailable, "cannot listen at " + real.text() + ": " + thrown.what());
  }
}

ZmqListener::ZmqListener(zmq::context_t& context, int fd, std::string address,
                         const ZmqTransport::Options& options)
    : options_(options),
      listening_(fd),
      address_(std::move(address)),
      router_(context, zmq::socket_type::router),
      monitor_(context, zmq::socket_type::pair) {
  set_usual_options(router_.socket, options);
  router_.socket.set(zmq::sockopt::router_mandatory, true);
  if (address_.front() == '[') router_.socket.set(zmq::sockopt::ipv6, true);
  if (options.keys) {
    router_.socket.set(zmq::sockopt::curve_server, true);
    router_.socket.set(zmq::sockopt::curve_secretkey, *options.keys->server_secret);
    router_.socket.set(zmq::sockopt::zap_domain, "forebay");
  }
  const std::string events = "inproc://listener-" + std::to_string(fd);
  constexpr int kEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
  if (zmq_socket_monitor(router_.socket.handle(), events.c_str(), kEvents) != 0)
    throw zmq::error_t();
  monitor_.socket.set(zmq::sockopt::linger, 0);
  monitor_.socket.connect(events);
  if (zmq_setsockopt(router_.socket.handle(), ZMQ_USE_FD, &fd, sizeof(fd)) != 0)
    throw zmq::error_t();
  router_.socket.bind("tcp://" + address_);
}

void ZmqListener::pause_listening() {
  // A packet filter that drops everything. Connections that exist already do not have this filter.
  sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog filter{1, &nothing};
  closed_ = ::setsockopt(listening_, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0;
}

void ZmqListener::resume_listening() {
  const int unused = 0;
  closed_ = ::setsockopt(listening_, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof(unused)) != 0;
}

bool ZmqListener::read_monitor(Time now) {
  bool read = false;
  Parts parts;
  while (receive(monitor_, 2, parts) == ReceiveResult::kMessage) {
    read = true;
    std::uint16_t event = 0;
    std::int32_t fd = -1;
    if (parts[0].size() < sizeof(event) + sizeof(fd)) continue;
    const auto* bytes = static_cast<const std::byte*>(parts[0].data());
    std::memcpy(&event, bytes, sizeof(event));
    std::memcpy(&fd, bytes + sizeof(event), sizeof(fd));
    if (event == ZMQ_EVENT_ACCEPTED) {
      connections_[fd] = {.since = now};
      ++accepted_;
    } else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      if (const auto found = connections_.find(fd); found != connections_.end()) {
        found->second.shaken = true;
      }
    } else {
      connections_.erase(fd);
    }
  }
  return read;
}

void ZmqListener::accept(int fd) {
  if (const auto found = connections_.find(fd); found != connections_.end()) {
    found->second.accepted = true;
  }
}

void ZmqListener::cut(int fd) const {
  // The descriptor may belong to another file by now; only a connection of ours is bound to this
  // port.
  if (fd >= 0 && local_port(fd) == local_port(listening_)) ::shutdown(fd, SHUT_RDWR);
}

std::size_t ZmqListener::num_unauthenticated() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      connections_, [](const auto& entry) { return !entry.second.accepted; }));
}

void ZmqListener::cut_all_strangers(TransportCounts& counts) {
  for (auto& [fd, connection] : connections_) {
    if (connection.accepted || std::exchange(connection.cut, true)) continue;
    cut(fd);
    ++counts.cut_unauthenticated;
  }
}

void ZmqListener::limit_unauthenticated(Time now, TransportCounts& counts) {
  for (auto& [fd, connection] : connections_) {
    // ZeroMQ itself closes connections that do not finish its handshake.
    if (connection.accepted || !connection.shaken) continue;
    if (now - connection.since < options_.handshake) continue;
    cut(fd);
    connection.since = now;
    ++counts.cut_unauthenticated;
  }
  room_.look(now, std::exchange(accepted_, 0));
  if (room_.is_short()) cut_all_strangers(counts);
  const std::size_t unauthenticated = num_unauthenticated();
  if (!closed_ && (unauthenticated > options_.max_unauthenticated || room_.is_short())) {
    pause_listening();
    ++counts.listener_paused;
  } else if (closed_ && unauthenticated <= options_.max_unauthenticated / 2 && room_.is_calm()) {
    resume_listening();
  }
}

}  // namespace forebay
