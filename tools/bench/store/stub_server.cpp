#include "tools/bench/store/stub_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <queue>
#include <utility>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "tools/bench/store/stub_answer.h"

namespace forebay {
namespace {

using Time = std::chrono::nanoseconds;

}  // namespace

/// One client and the request that it waits for.
struct StubServer::Connection {
  enum class Fault : std::uint8_t { kNone, kStall, kReset, kShort };

  Descriptor socket;
  std::string received;
  StubAnswer answer;
  std::size_t sent = 0;  // of head and text
  std::uint64_t file_left = 0;
  std::uint64_t fault_at = 0;  // of file_left
  Fault fault = Fault::kNone;
  bool waiting = false;  // for the latency to pass
  bool answering = false;
  std::uint64_t number = 0;
};

/// All clients; belongs to the thread that runs the server.
class StubServer::Connections {
  using Fault = Connection::Fault;

 public:
  explicit Connections(StubServer& server)
      : server_(server), epoll_(::epoll_create1(EPOLL_CLOEXEC)), random_(server.options().seed) {
    watch(server_.listening_.number(), EPOLLIN, EPOLL_CTL_ADD);
    watch(server_.stop_.number(), EPOLLIN, EPOLL_CTL_ADD);
  }

  void run() {
    while (turn()) {
    }
  }

 private:
  struct Due {
    Time time;
    int socket;
    std::uint64_t number;
    bool operator>(const Due& other) const { return time > other.time; }
  };

  void watch(int socket, std::uint32_t events, int operation) const {
    epoll_event event{.events = events, .data = {.fd = socket}};
    ::epoll_ctl(epoll_.number(), operation, socket, &event);
  }

  bool turn() {
    int wait = -1;
    if (!due_.empty()) {
      const Time left = std::max(Time{0}, due_.top().time - clock_.now());
      wait = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    std::array<epoll_event, 128> events{};
    const int count = ::epoll_wait(epoll_.number(), events.data(), events.size(), wait);
    for (int i = 0; i < count; ++i) {
      const int socket = events[static_cast<std::size_t>(i)].data.fd;
      if (socket == server_.stop_.number()) return false;
      if (socket == server_.listening_.number()) {
        accept_all();
      } else if (connections_.at(static_cast<std::size_t>(socket))) {
        serve(*connections_[static_cast<std::size_t>(socket)]);
      }
    }
    for (const Time now = clock_.now(); !due_.empty() && due_.top().time <= now;) {
      const Due due = due_.top();
      due_.pop();
      auto& connection = connections_[static_cast<std::size_t>(due.socket)];
      if (!connection || connection->number != due.number) continue;
      connection->waiting = false;
      send(*connection);
    }
    return true;
  }

  void accept_all() {
    while (true) {
      Descriptor socket(
          ::accept4(server_.listening_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) return;
      const int on = 1;
      ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const auto number = static_cast<std::size_t>(socket.number());
      if (connections_.size() <= number) connections_.resize(number + 1);
      watch(socket.number(), EPOLLIN, EPOLL_CTL_ADD);
      connections_[number] = std::make_unique<Connection>();
      connections_[number]->socket = std::move(socket);
      connections_[number]->number = ++numbers_;
    }
  }

  void close(Connection& connection) {
    if (connection.answering) --in_flight_;
    connections_[static_cast<std::size_t>(connection.socket.number())].reset();
  }

  void serve(Connection& connection) {
    if (connection.answering && !connection.waiting && connection.fault_at == 0) {
      return send(connection);
    }
    std::array<char, 16 << 10> buffer{};
    const ssize_t got = ::recv(connection.socket.number(), buffer.data(), buffer.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return close(connection);
    if (got < 0) return;
    connection.received.append(buffer.data(), static_cast<std::size_t>(got));
    if (!connection.answering) begin(connection);
  }

  void begin(Connection& connection) {
    const auto end = connection.received.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const StubRequest request = StubRequest::read(connection.received.substr(0, end));
    connection.received.erase(0, end + 4);
    const StubOptions options = server_.options();
    connection.answer = answer(request, options, request.header("host"));
    ++server_.requests_;
    connection.answering = true;
    server_.most_in_flight_ = std::max<std::uint64_t>(server_.most_in_flight_, ++in_flight_);
    choose_fault(connection, request, options);
    if (connection.answer.is_object && options.sound_objects > 0 &&
        ++objects_ > options.sound_objects) {
      if (options.ends) return end_server(connection);
      connection.answer = stub_refusal(request, 403, "AccessDenied");
    }
    connection.sent = 0;
    connection.file_left = connection.answer.file ? connection.answer.bytes : 0;
    connection.number = ++numbers_;
    const bool slow = random_.uniform() < options.slow_share;
    const double latency = slow ? options.slow_latency : options.latency;
    if (latency <= 0) return send(connection);
    connection.waiting = true;
    const auto wait = std::chrono::duration_cast<Time>(std::chrono::duration<double>(latency));
    due_.push({clock_.now() + wait, connection.socket.number(), connection.number});
  }

  void end_server(Connection& connection) {
    server_.stop();
    close(connection);
  }

  void choose_fault(Connection& connection, const StubRequest& request,
                    const StubOptions& options) {
    connection.fault = Fault::kNone;
    connection.fault_at = 0;
    if (!connection.answer.is_object) return;
    if (server_.stall_next_.exchange(false)) connection.fault = Fault::kStall;
    if (connection.fault != Fault::kNone) return;
    const double drawn = random_.uniform();
    double below = options.refused_share;
    if (drawn < below) {
      connection.answer = stub_refusal(request, 503, "SlowDown");
    } else if (drawn < (below += options.stalled_share)) {
      connection.fault = Fault::kStall;
    } else if (drawn < (below += options.reset_share)) {
      connection.fault = Fault::kReset;
    } else if (drawn < below + options.short_share) {
      connection.fault = Fault::kShort;
    }
  }

  /// Sends head and text; false: not yet all, or the client is gone.
  bool send_text(Connection& connection) {
    const std::string text = connection.answer.head + connection.answer.body;
    while (connection.sent < text.size()) {
      const ssize_t sent = ::send(connection.socket.number(), text.data() + connection.sent,
                                  text.size() - connection.sent,
                                  MSG_NOSIGNAL | (connection.file_left > 0 ? MSG_MORE : 0));
      if (sent < 0) return wait_or_close(connection);
      connection.sent += static_cast<std::size_t>(sent);
    }
    return true;
  }

  bool wait_or_close(Connection& connection) {
    if (errno == EAGAIN) {
      watch(connection.socket.number(), EPOLLOUT, EPOLL_CTL_MOD);
    } else {
      close(connection);
    }
    return false;
  }

  void send(Connection& connection) {
    constexpr std::uint64_t kSlice = 1 << 20;  // so that every client gets its turn
    if (!send_text(connection)) return;
    const std::uint64_t stop_at =
        connection.fault == Fault::kNone ? 0 : connection.answer.bytes / 2;
    std::uint64_t slice = kSlice;
    while (connection.file_left > stop_at && slice > 0) {
      off_t offset = connection.answer.offset +
                     static_cast<off_t>(connection.answer.bytes - connection.file_left);
      const ssize_t sent = ::sendfile(connection.socket.number(), connection.answer.file.number(),
                                      &offset, std::min(slice, connection.file_left - stop_at));
      if (sent <= 0) return static_cast<void>(wait_or_close(connection));
      connection.file_left -= static_cast<std::uint64_t>(sent);
      slice -= static_cast<std::uint64_t>(sent);
    }
    if (connection.file_left > stop_at) {
      return watch(connection.socket.number(), EPOLLOUT, EPOLL_CTL_MOD);
    }
    if (connection.file_left > 0) return break_off(connection);
    connection.answering = false;
    --in_flight_;
    connection.answer = {};
    watch(connection.socket.number(), EPOLLIN, EPOLL_CTL_MOD);
    begin(connection);
  }

  void break_off(Connection& connection) {
    if (connection.fault == Fault::kStall) {
      connection.fault_at = connection.file_left;
      return watch(connection.socket.number(), EPOLLIN, EPOLL_CTL_MOD);  // until the client goes
    }
    if (connection.fault == Fault::kReset) {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(connection.socket.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    close(connection);
  }

  StubServer& server_;
  Descriptor epoll_;
  SystemClock clock_;
  Random random_;
  std::vector<std::unique_ptr<Connection>> connections_ =
      std::vector<std::unique_ptr<Connection>>(64);
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t numbers_ = 0;
  std::uint64_t objects_ = 0;  // requests for them
  std::uint64_t in_flight_ = 0;
};

Result<std::unique_ptr<StubServer>> StubServer::open(const StubOptions& options) {
  auto server = std::unique_ptr<StubServer>(new StubServer(options));  // NOLINT: private.
  server->stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  server->listening_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(server->listening_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  constexpr int kBacklog = 512;
  if (::bind(server->listening_.number(), generic, size) != 0 ||
      ::listen(server->listening_.number(), kBacklog) != 0 ||
      ::getsockname(server->listening_.number(), generic, &size) != 0) {
    return fail(Code::kUnavailable,
                "127.0.0.1:" + std::to_string(options.port) + ": the server cannot listen there");
  }
  server->port_ = ntohs(address.sin_port);
  return server;
}

StubServer::~StubServer() = default;

StubOptions StubServer::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void StubServer::change(const std::function<void(StubOptions&)>& change) {
  const std::lock_guard lock(mutex_);
  change(options_);
}

void StubServer::run() {
  // sendfile() to a client that is gone is an error, not a signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Connections(*this).run();
}

void StubServer::stop() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.number(), &one, sizeof one));
}

}  // namespace forebay
