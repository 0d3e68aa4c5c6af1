#include "core/net/zmq/zmq_listener.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <netdb.h>

#include "core/base/descriptor.h"

namespace forebay {
namespace {

Result<Descriptor> listen_at(const HostPort& address, int backlog) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found)) {
    return fail(Code::kInvalid, "address " + address.text() + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (socket && ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
      ::bind(socket.number(), found->ai_addr, found->ai_addrlen) == 0 &&
      ::listen(socket.number(), backlog) == 0) {
    return socket;
  }
  const int why = errno;
  const char* advice = why == EADDRINUSE ? "; give a free port, or 0" : "";
  return fail(Code::kUnavailable, "cannot listen at " + address.text() + ": " +
                                      std::generic_category().message(why) + advice);
}

}  // namespace

Result<std::unique_ptr<ZmqListener>> ZmqListener::open(zmq::context_t& context,
                                                       const HostPort& address,
                                                       const ZmqTransport::Options& options) {
  // All connections in the kernel's backlog may be accepted at once, before listening is paused.
  const int backlog = options.kept_descriptors == 0
                          ? options.backlog
                          : std::clamp(static_cast<int>(options.kept_descriptors / 8), 4,
                                       std::max(options.backlog, 4));
  Result<Descriptor> socket = listen_at(address, backlog);
  if (!socket) return pass(socket);
  const HostPort real{address.host, local_port(socket->number())};
  try {
    auto made = std::unique_ptr<ZmqListener>(
        new ZmqListener(context, socket->number(), real.text(), options));
    socket->release();
    return made;
  } catch (const zmq::error_t& thrown) {
    return fail(Code::kUnavailable, "cannot listen at " + real.text() + ": " + thrown.what());
  }
}

ZmqListener::ZmqListener(zmq::context_t& context, int fd, std::string address,
                         const ZmqTransport::Options& options)
    : options_(options),
      listening_(fd),
      address_(std::move(address)),
      router_(context, zmq::socket_type::router),
      monitor_(context, router_.socket, "listener-" + std::to_string(fd),
               ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                   ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
  set_usual_options(router_.socket, options);
  router_.socket.set(zmq::sockopt::router_mandatory, true);
  // A dialer whose connection broke connects a lane again by itself. Where this side has not
  // noticed the break, the router would ignore the new connection, and the lane be silent for ever.
  router_.socket.set(zmq::sockopt::router_handover, true);
  if (address_.front() == '[') router_.socket.set(zmq::sockopt::ipv6, true);
  if (options.keys) {
    router_.socket.set(zmq::sockopt::curve_server, true);
    router_.socket.set(zmq::sockopt::curve_secretkey, *options.keys->server_secret);
    router_.socket.set(zmq::sockopt::zap_domain, "forebay");
  }
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
  while (const auto event = monitor_.next()) {
    read = true;
    if (event->kind == ZMQ_EVENT_ACCEPTED) {
      connections_[event->value] = {.since = now};
      ++accepted_;
    } else if (event->kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
      if (const auto found = connections_.find(event->value); found != connections_.end()) {
        found->second.shaken = true;
      }
    } else {
      connections_.erase(event->value);
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
  const auto unauthenticated = static_cast<std::size_t>(std::ranges::count_if(
      connections_, [](const auto& entry) { return !entry.second.accepted; }));
  if (!closed_ && (unauthenticated > options_.max_unauthenticated || room_.is_short())) {
    pause_listening();
    ++counts.listener_paused;
  } else if (closed_ && unauthenticated <= options_.max_unauthenticated / 2 && room_.is_calm()) {
    resume_listening();
  }
}

}  // namespace forebay
