#include "core/net/zmq/zmq_socket.h"

#include <memory>
#include <utility>

namespace forebay {
namespace {

/// Below this size, copying bytes costs less than registering their owner with ZeroMQ.
constexpr std::size_t kWorthKeeping = 512;

struct Received {
  zmq::message_t part;
  MemoryBudget* budget = nullptr;

  Received(zmq::message_t&& moved, MemoryBudget* counted)
      : part(std::move(moved)), budget(counted) {
    if (budget != nullptr) budget->take(part.size());
  }
  ~Received() {
    if (budget != nullptr) budget->give(part.size());
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
};

void drop_frame(void*, void* hint) { std::unique_ptr<Frame>(static_cast<Frame*>(hint)); }

void drop_bytes(void* data, void*) { std::unique_ptr<std::byte[]>(static_cast<std::byte*>(data)); }

zmq::message_t message_of(const Frame& frame) {
  if (frame.size() < kWorthKeeping) return zmq::message_t(frame.data(), frame.size());
  auto keeper = std::make_unique<Frame>(frame);
  // ZeroMQ does not write to the data that it sends.
  auto* data =
      const_cast<std::byte*>(frame.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  zmq::message_t message(data, frame.size(), &drop_frame, keeper.get());
  static_cast<void>(keeper.release());
  return message;
}

zmq::message_t message_of(WireBuffer& parcel) {
  if (parcel.size() < kWorthKeeping) return zmq::message_t(parcel.data(), parcel.size());
  zmq::message_t message(parcel.data(), parcel.size(), &drop_bytes, nullptr);
  static_cast<void>(parcel.release().release());
  return message;
}

/// Cannot fail: after the first part of a message is taken, ZeroMQ accepts the rest.
void must_send(zmq::socket_t& socket, zmq::message_t message, int flags) {
  static_cast<void>(zmq_msg_send(message.handle(), socket.handle(), flags | ZMQ_DONTWAIT));
}

/// Sends a message of one small part to the only peer; false if it takes nothing now.
bool send_small(zmq::socket_t& socket, std::span<const std::byte> bytes) {
  zmq::message_t message(bytes.data(), bytes.size());
  return zmq_msg_send(message.handle(), socket.handle(), ZMQ_DONTWAIT) >= 0;
}

/// Whether the next message will be accepted completely. A router says so by accepting the route.
bool can_take(zmq::socket_t& socket, const std::string& route) {
  if (!route.empty()) {
    zmq::message_t to(route);
    return zmq_msg_send(to.handle(), socket.handle(), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0;
  }
  return is_ready(socket, ZMQ_POLLOUT);
}

}  // namespace

bool is_ready(zmq::socket_t& socket, int event) {
  int events = 0;
  std::size_t size = sizeof(events);
  return zmq_getsockopt(socket.handle(), ZMQ_EVENTS, &events, &size) == 0 && (events & event) != 0;
}

ReceiveResult receive(PolledSocket& from, std::size_t most, Parts& parts) {
  parts.clear();
  if (!from.fresh) return ReceiveResult::kNothing;
  bool too_many = false;
  while (true) {
    zmq::message_t part;
    if (zmq_msg_recv(part.handle(), from.socket.handle(), ZMQ_DONTWAIT) < 0) {
      from.fresh = false;
      return ReceiveResult::kNothing;
    }
    const bool more = part.more();
    too_many = too_many || parts.size() >= most;
    if (!too_many) parts.push_back(std::move(part));
    if (!more) return too_many ? ReceiveResult::kTooMany : ReceiveResult::kMessage;
  }
}

Frame wrap(zmq::message_t&& part, MemoryBudget* budget) {
  auto keeper = std::make_shared<Received>(std::move(part), budget);
  const auto bytes = bytes_in(keeper->part);
  return {std::move(keeper), bytes.data(), bytes.size()};
}

bool send(PolledSocket& to, const std::string& route, WireBuffer& parcel) {
  zmq::socket_t& socket = to.socket;
  to.fresh = true;
  const int more = parcel.frames.empty() ? 0 : ZMQ_SNDMORE;
  // Asking whether the socket takes it costs a system call; trying is as good.
  if (route.empty() && more == 0 && parcel.size() < kWorthKeeping) {
    return send_small(socket, parcel.bytes());
  }
  if (!can_take(socket, route)) return false;
  must_send(socket, message_of(parcel), more);
  for (std::size_t i = 0; i < parcel.frames.size(); ++i) {
    const bool last = i + 1 == parcel.frames.size();
    must_send(socket, message_of(parcel.frames[i]), last ? 0 : ZMQ_SNDMORE);
  }
  return true;
}

}  // namespace forebay
