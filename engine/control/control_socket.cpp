#include "engine/control/control_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

sockaddr_un address_in(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + kControlName;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// What is left of the time for one line.
class Patience {
 public:
  explicit Patience(std::chrono::nanoseconds patience) : until_(clock_.now() + patience) {}

  /// Waits until the socket is ready for `events`; false: the time is over.
  bool wait(int socket, short events) const {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - clock_.now());
      if (left.count() <= 0) return false;
      pollfd waiting{.fd = socket, .events = events, .revents = 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

 private:
  const SystemClock clock_;
  const std::chrono::nanoseconds until_;
};

bool is_passing(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

Result<Descriptor> open_folder(const std::string& path) {
  const int folder = open_file(path, O_PATH | O_DIRECTORY);
  if (folder < 0) return fail(Code::kNotFound, path + ": " + std::strerror(errno));
  return Descriptor(folder);
}

Result<Descriptor> make_socket() {
  DescriptorWait wait;
  int made = -1;
  do {
    made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  } while (made < 0 && wait.again(errno));
  if (made < 0) return fail(Code::kUnavailable, std::string("a socket: ") + std::strerror(errno));
  return Descriptor(made);
}

bool listen_control(int socket, int folder) {
  const sockaddr_un address = address_in(folder);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::fchmodat(folder, kControlName, 0600, 0) == 0 && ::listen(socket, 4) == 0;
}

bool connect_control(int socket, int folder, std::chrono::seconds patience) {
  // The kernel applies the limit of a send to connect() too, which waits while the backlog is full.
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const sockaddr_un address = address_in(folder);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Result<std::string> receive_line(int socket, std::size_t most, std::chrono::nanoseconds patience) {
  const Patience left(patience);
  std::string line;
  std::array<char, 16 << 10> bytes{};
  while (line.size() <= most) {
    if (!left.wait(socket, POLLIN)) return fail(Code::kTimeout, "no answer");
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && is_passing(errno)) continue;
    if (got <= 0) return fail(Code::kTimeout, "no answer");
    const std::string_view more(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t end = more.find('\n');
    line += more.substr(0, end);
    if (end != std::string_view::npos && line.size() <= most) return line;
  }
  return fail(Code::kCorrupt, "a line longer than " + std::to_string(most) + " bytes");
}

bool send_line(int socket, const std::string& line, std::chrono::nanoseconds patience) {
  const Patience left(patience);
  const std::string whole = line + '\n';
  std::size_t sent = 0;
  while (sent < whole.size()) {
    if (!left.wait(socket, POLLOUT)) return false;
    const ssize_t more =
        ::send(socket, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (more < 0 && is_passing(errno)) continue;
    if (more <= 0) return false;
    sent += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace forebay
