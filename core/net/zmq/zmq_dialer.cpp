#include "core/net/zmq/zmq_dialer.h"

#include <sys/random.h>

#include <algorithm>

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
  } catch (const zmq::error_t&) {
    give_up(now);  // No free descriptor, or the name does not resolve now; a later try may work.
  }
}

void ZmqDialer::give_up(Time now) {
  const bool was_up = std::exchange(up, false);
  sockets_.reset();
  if (was_up) pause_ = Time(0);
  next_connect_ = now + pause_;
  pause_ = std::clamp<Time>(pause_ * 2, options_.first_retry, options_.last_retry);
}

bool ZmqDialer::accepted(std::size_t lane) {
  accepted_[lane] = true;
  return accepted_[0] && accepted_[1];
}

}  // namespace forebay
