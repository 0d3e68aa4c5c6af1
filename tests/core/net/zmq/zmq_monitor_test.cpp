#include "core/net/zmq/zmq_monitor.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// A port at which every connection is closed at once.
class ClosingPort {
 public:
  ClosingPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~ClosingPort() { ::close(fd_); }
  ClosingPort(const ClosingPort&) = delete;
  ClosingPort& operator=(const ClosingPort&) = delete;

  std::string address() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  void close_next() const { ::close(::accept(fd_, nullptr, nullptr)); }

 private:
  int fd_;
  int port_ = 0;
};

}  // namespace

// As a node does that gives up a peer in mid-handshake.
TEST_CASE("a handshake that fails after its monitor has ended blocks no other connection",
          "[net][zmq]") {
  zmq::context_t context(1);
  zmq::socket_t watched(context, zmq::socket_type::dealer);
  watched.set(zmq::sockopt::linger, 0);
  watched.set(zmq::sockopt::reconnect_ivl, 1);
  std::optional<ZmqMonitor> monitor(std::in_place, context, watched, "watched",
                                    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  const ClosingPort port;
  watched.connect(port.address());
  port.close_next();
  monitor.reset();
  for (int i = 0; i < 3; ++i) port.close_next();

  zmq::socket_t listening(context, zmq::socket_type::pair);
  listening.set(zmq::sockopt::linger, 0);
  listening.set(zmq::sockopt::rcvtimeo, 20'000);
  listening.bind("tcp://127.0.0.1:*");
  zmq::socket_t dialling(context, zmq::socket_type::pair);
  dialling.set(zmq::sockopt::linger, 0);
  dialling.connect(listening.get(zmq::sockopt::last_endpoint));
  dialling.send(zmq::str_buffer("hello"), zmq::send_flags::dontwait);
  zmq::message_t message;
  REQUIRE(listening.recv(message));
  CHECK(message.to_string() == "hello");
}

}  // namespace forebay
