#include "engine/run/control_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace forebay {
namespace {

sockaddr_un address_in(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + kControlName;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

}  // namespace

Result<Descriptor> open_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return fail(Code::kNotFound, path + ": " + std::strerror(errno));
  return Descriptor(folder);
}

Result<Descriptor> make_socket(int seconds) {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return fail(Code::kUnavailable, std::string("a socket: ") + std::strerror(errno));
  const timeval patience{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return Descriptor(made);
}

bool bind_control(int socket, int folder) {
  const sockaddr_un address = address_in(folder);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool connect_control(int socket, int folder) {
  const sockaddr_un address = address_in(folder);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

Result<std::string> receive_line(int socket, std::size_t most) {
  std::string line;
  char byte = 0;
  while (line.size() < most) {
    const ssize_t got = ::recv(socket, &byte, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Code::kTimeout, "no answer");
    if (byte == '\n') return line;
    line += byte;
  }
  return fail(Code::kCorrupt, "a line longer than " + std::to_string(most) + " bytes");
}

bool send_line(int socket, const std::string& line) {
  const std::string whole = line + '\n';
  std::size_t sent = 0;
  while (sent < whole.size()) {
    const ssize_t more = ::send(socket, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    sent += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace forebay
