#include "core/net/zmq/zmq_monitor.h"

#include <cstring>

namespace forebay {

ZmqMonitor::ZmqMonitor(zmq::context_t& context, zmq::socket_t& watched, const std::string& name,
                       int events)
    : watched_(watched.handle()), socket_(context, zmq::socket_type::pair) {
  const std::string address = "inproc://" + name;
  if (zmq_socket_monitor(watched.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  socket_.socket.set(zmq::sockopt::linger, 0);
  socket_.socket.connect(address);
}

ZmqMonitor::~ZmqMonitor() { zmq_socket_monitor(watched_, nullptr, 0); }

std::optional<MonitorEvent> ZmqMonitor::next() {
  Parts parts;
  while (receive(socket_, 2, parts) == ReceiveResult::kMessage) {
    std::uint16_t kind = 0;
    MonitorEvent event;
    if (parts[0].size() < sizeof(kind) + sizeof(event.value)) continue;
    const auto* bytes = static_cast<const std::byte*>(parts[0].data());
    std::memcpy(&kind, bytes, sizeof(kind));
    std::memcpy(&event.value, bytes + sizeof(kind), sizeof(event.value));
    event.kind = kind;
    return event;
  }
  return std::nullopt;
}

}  // namespace forebay
