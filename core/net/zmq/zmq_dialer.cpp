#include "core/net/zmq/zmq_dialer.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "core/net/wire_header.h"
#include "core/wire/heartbeat.h"

namespace forebay {
namespace {

std::uint64_t unused_number() {
  std::uint64_t number = 0;
  while (number == 0 && ::getrandom(&number, sizeof(number), 0) != sizeof(number)) number = 0;
  return number;
}

PolledSocket dial(zmq::context_t& context, const HostPort& to, const ZmqTransport::Options& options,
                  const WireHeader& hello) {
  PolledSocket made(context, zmq::socket_type::dealer);
  zmq::socket_t& socket = made.socket;
  set_usual_options(socket, options);
  // The router identifies a lane by this route: the lane's number and the session.
  std::string route(1 + sizeof(hello.session), '\0');
  route[0] = static_cast<char>('1' + hello.lane);
  std::copy_n(reinterpret_cast<const char*>(&hello.session), sizeof(hello.session), &route[1]);
  socket.set(zmq::sockopt::routing_id, route);
  socket.set(zmq::sockopt::reconnect_ivl, 50);
  socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
  if (options.keys) {
    socket.set(zmq::sockopt::curve_serverkey, options.keys->server_public);
    socket.set(zmq::sockopt::curve_publickey, options.keys->client->public_key);
    socket.set(zmq::sockopt::curve_secretkey, options.keys->client->secret_key);
  }
  if (to.host.find(':') != std::string::npos) socket.set(zmq::sockopt::ipv6, true);
  socket.connect("tcp://" + to.text());
  std::array<std::byte, WireHeader::kBytes> bytes{};
  hello.write(bytes.data());
  socket.send(zmq::const_buffer(bytes.data(), bytes.size()), zmq::send_flags::dontwait);
  return made;
}

/// Connections in a row that end before a session begins, without a reason, are no accident.
constexpr int kClosedEarly = 8;

/// `status` is that of ZeroMQ's authentication protocol (RFC 27/ZAP).
std::string why_denied(int status) {
  constexpr int kDenied = 400;
  if (status != kDenied) {
    return "it cannot check this node's key now (status " + std::to_string(status) + ")";
  }
  return "its folder clients/ does not list this node's key: add this node's client.key there, or "
         "use the keys of that job";
}

/// `reason` is one of ZMQ_PROTOCOL_ERROR_….
std::string why_misunderstood(int reason, bool has_keys) {
  if (reason != ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
    return "what listens there breaks ZeroMQ's protocol, so it is no job";
  }
  return has_keys
             ? "it has no keys and this node has: use keys on both or on neither"
             : "it uses keys and this node has none: name the job's keys (--keys, cluster.keys)";
}

std::string why_closed_early(bool has_keys) {
  return std::string("it closes each connection at once, ") +
         (has_keys ? "as a job does that has no keys or another server.key"
                   : "so what listens there may be no job, or one that uses keys (--keys, "
                     "cluster.keys)");
}

}  // namespace

void ZmqDialer::connect(zmq::context_t& context, Time now) {
  session_ = unused_number();
  accepted_ = {};
  tried_at_ = now;
  try {
    const auto lane = [&](std::uint8_t number) {
      return dial(context, parts_, options_,
                  {.kind = WireHeader::Kind::kHello,
                   .lane = number,
                   .session = session_,
                   .sequence = in_nanoseconds(options_.heartbeat)});
    };
    sockets_.emplace(std::array{lane(0), lane(1)});
    monitor_.emplace(context, (*sockets_)[0].socket, "dialer-" + std::to_string(session_),
                     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  } catch (const zmq::error_t&) {
    give_up(now);  // No free descriptor, or the name does not resolve now; a later try may work.
  }
}

void ZmqDialer::give_up(Time now) {
  const bool was_up = std::exchange(up, false);
  monitor_.reset();
  sockets_.reset();
  if (was_up) pause_ = Time(0);
  next_connect_ = now + pause_;
  pause_ = std::clamp<Time>(pause_ * 2, options_.first_retry, options_.last_retry);
}

bool ZmqDialer::accepted(std::size_t lane) {
  accepted_[lane] = true;
  if (!accepted_[0] || !accepted_[1]) return false;
  refused_.clear();
  closed_early_ = 0;
  monitor_.reset();
  return true;
}

void ZmqDialer::refused(const std::string& why) {
  if (why.empty() || std::exchange(refused_, why) == why || !options_.say) return;
  options_.say(address_ + " refuses this node for now: " + why +
               "; this node tries again and again");
}

void ZmqDialer::read_monitor() {
  if (!monitor_) return;
  const bool has_keys = options_.keys.has_value();
  while (const auto event = monitor_->next()) {
    if (event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
      refused(why_denied(event->value));
    } else if (event->kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      refused(why_misunderstood(event->value, has_keys));
    } else {
      ++closed_early_;
    }
  }
  if (closed_early_ >= kClosedEarly && refused_.empty()) refused(why_closed_early(has_keys));
}

}  // namespace forebay
