#include "tools/bench/raw_wire.h"

#include <chrono>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "core/base/seconds.h"

namespace forebay {
namespace {

constexpr std::size_t kSmall = 64;

/// Batches in flight, as many as with actors; more would only make the memory cold.
constexpr int kBatchesOnTheirWay = 16;

zmq::socket_type type_of(const std::string& what, bool serves) {
  if (what == "req") return serves ? zmq::socket_type::rep : zmq::socket_type::req;
  return serves ? zmq::socket_type::pull : zmq::socket_type::push;
}

/// Receives `count` messages of any number of parts.
void take_all(zmq::socket_t& socket, std::uint64_t count) {
  zmq::message_t part;
  while (count > 0) {
    static_cast<void>(socket.recv(part));
    if (!part.more()) --count;
  }
}

void keep(void*, void*) {}

void send_batches(zmq::socket_t& socket, const WireBenchOptions& options) {
  std::vector<std::byte> bytes(options.frame_bytes);
  for (std::uint64_t i = 0; i < options.batches; ++i) {
    for (std::size_t frame = 0; frame < options.frames; ++frame) {
      const bool last = frame + 1 == options.frames;
      socket.send(zmq::message_t(bytes.data(), bytes.size(), &keep),
                  last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }
  }
}

}  // namespace

void serve_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
               const WireBenchProcess::Lines& lines) {
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(what, true));
  socket.set(zmq::sockopt::linger, 0);
  if (what == "batches") socket.set(zmq::sockopt::rcvhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, *keys->server_secret);
  }
  socket.bind("tcp://127.0.0.1:*");
  lines.write(socket.get(zmq::sockopt::last_endpoint));
  if (what == "push") take_all(socket, options.tells);
  if (what == "batches") take_all(socket, options.batches);
  zmq::message_t message;
  for (std::uint64_t i = 0; what == "req" && i < options.asks; ++i) {
    static_cast<void>(socket.recv(message));
    socket.send(message, zmq::send_flags::none);
  }
  lines.write("done");
  lines.read();
}

double time_raw(const std::string& what, const WireBenchOptions& options, const CurveKeys* keys,
                const WireBenchProcess::Lines& lines, const Clock& clock) {
  const std::string endpoint = lines.read();
  zmq::context_t context;
  zmq::socket_t socket(context, type_of(what, false));
  if (what == "batches") socket.set(zmq::sockopt::sndhwm, kBatchesOnTheirWay);
  if (keys != nullptr) {
    socket.set(zmq::sockopt::curve_serverkey, keys->server_public);
    socket.set(zmq::sockopt::curve_publickey, keys->client->public_key);
    socket.set(zmq::sockopt::curve_secretkey, keys->client->secret_key);
  }
  socket.connect(endpoint);
  const std::string small(kSmall, 'x');
  const auto start = clock.now();
  if (what == "batches") send_batches(socket, options);
  for (std::uint64_t i = 0; what == "push" && i < options.tells; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
  }
  zmq::message_t answer;
  for (std::uint64_t i = 0; what == "req" && i < options.asks; ++i) {
    socket.send(zmq::buffer(small), zmq::send_flags::none);
    static_cast<void>(socket.recv(answer));
  }
  lines.read();
  const auto took = clock.now() - start;
  lines.write("go on");
  return in_seconds(took);
}

}  // namespace forebay
