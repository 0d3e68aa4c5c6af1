#include "tools/symmetric/meeting.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include <netdb.h>

#include "core/base/clock.h"
#include "engine/job/text_file.h"

namespace forebay {
namespace {

constexpr std::string_view kScheme = "tcp://";
constexpr int kLookMs = 200;
constexpr int kConnectMs = 2000;

/// Owns a socket.
class Socket {
 public:
  Socket(int family, int flags)
      : number_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

bool connects(const addrinfo& to) {
  const Socket socket(to.ai_family, SOCK_NONBLOCK);
  if (socket.number() < 0) return false;
  if (::connect(socket.number(), to.ai_addr, to.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  pollfd ready{.fd = socket.number(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, kConnectMs) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

bool answers(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(kScheme.size(), colon - kScheme.size());
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found) != 0) return false;
  bool any = false;
  for (const addrinfo* each = found; each != nullptr && !any; each = each->ai_next) {
    any = connects(*each);
  }
  ::freeaddrinfo(found);
  return any;
}

}  // namespace

std::string joinable(const std::string& written, const std::string& first_host) {
  std::string address = written.substr(0, written.find('\n'));
  const std::size_t colon = address.rfind(':');
  if (!address.starts_with(kScheme) || colon <= kScheme.size() || colon + 1 >= address.size()) {
    return "";
  }
  const std::string host = address.substr(kScheme.size(), colon - kScheme.size());
  const bool anywhere = host == "0.0.0.0" || host == "*" || host == "[::]";
  if (!anywhere || first_host.empty()) return address;
  return std::string(kScheme) + first_host + address.substr(colon);
}

Result<std::string> await_head(const MeetingPoint& point, const std::function<bool()>& stop) {
  const SystemClock clock;
  const std::chrono::nanoseconds began = clock.now();
  while (clock.now() - began < point.patience) {
    if (stop()) return fail(Code::kUnavailable, "stopped while waiting for the head");
    const auto written = read_text_file("address file", point.address_file);
    const std::string told = written ? joinable(*written, point.first_host) : "";
    if (!told.empty() && answers(told)) return told;
    if (clock.now() - began > point.alone && point.port != 0 && !point.first_host.empty()) {
      const std::string guessed =
          std::string(kScheme) + point.first_host + ":" + std::to_string(point.port);
      if (answers(guessed)) return guessed;
    }
    // There is no notification for changes of a file on another machine's disk. A signal ends this
    // wait at once.
    ::poll(nullptr, 0, kLookMs);
  }
  return fail(Code::kTimeout,
              "no head wrote " + point.address_file +
                  (point.first_host.empty()
                       ? ""
                       : " or listened on " + point.first_host + ":" + std::to_string(point.port)) +
                  "; look at what rank 0 said");
}

bool is_free(std::uint16_t port) {
  const Socket socket(AF_INET, 0);
  const int yes = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  return socket.number() >= 0 &&
         ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace forebay
