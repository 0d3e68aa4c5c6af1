#include "engine/run/control_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/base/open_files.h"
#include "core/base/text/json_text.h"
#include "core/base/thread/start_thread.h"

namespace forebay {
namespace {

void set_patience(int socket, int seconds) {
  const timeval patience{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

sockaddr_un address_in(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + kControlName;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// An answer may wait until memory use has gone down.
constexpr int kAnswerSeconds = 10;

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> ask(const std::string& run_dir, const std::string& line, std::size_t most) {
  auto folder = open_folder(run_dir);
  if (!folder) return fail(Code::kNotFound, "no job runs in " + run_dir);
  auto socket = make_socket(kAnswerSeconds);
  if (!socket) return pass(socket);
  if (!connect_control(socket->number(), folder->number())) {
    const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
    return fail(nobody ? Code::kNotFound : Code::kUnavailable,
                nobody ? "no job runs in " + run_dir
                       : run_dir + "/" + kControlName + ": " + std::strerror(errno));
  }
  if (!send_line(socket->number(), line)) return fail(Code::kUnavailable, "the job hung up");
  auto answered = receive_line(socket->number(), most);
  if (!answered) {
    return fail(Code::kUnavailable, "the job did not answer: " + answered.error().message);
  }
  return answered;
}

Result<std::string> ask_for(const std::string& run_dir, const char* question) {
  auto answer = ask(run_dir, question, kMostLookBytes);
  // The job is about to begin or to end.
  if (answer && *answer == "{}") return fail(Code::kNotFound, "no job runs in " + run_dir + " now");
  return answer;
}

}  // namespace

Result<Descriptor> open_folder(const std::string& path) {
  const int folder = open_file(path, O_PATH | O_DIRECTORY);
  if (folder < 0) return fail(Code::kNotFound, path + ": " + std::strerror(errno));
  return Descriptor(folder);
}

Result<Descriptor> make_socket(int seconds) {
  DescriptorWait wait;
  int made = -1;
  do {
    made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  } while (made < 0 && wait.again(errno));
  if (made < 0) return fail(Code::kUnavailable, std::string("a socket: ") + std::strerror(errno));
  set_patience(made, seconds);
  return Descriptor(made);
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

Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::string& run_dir, Set set,
                                                           Queries queries) {
  auto folder = open_folder(run_dir);
  if (!folder) return pass(folder);
  auto socket = make_socket(1);
  if (!socket) return pass(socket);
  ::unlinkat(folder->number(), kControlName, 0);
  const sockaddr_un address = address_in(folder->number());
  const bool ready =
      ::bind(socket->number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::fchmodat(folder->number(), kControlName, 0600, 0) == 0 &&
      ::listen(socket->number(), 4) == 0;
  if (!ready) {
    return fail(Code::kUnavailable, run_dir + "/" + kControlName + ": " + std::strerror(errno));
  }
  try {
    return std::unique_ptr<ControlServer>(  // NOLINT: the constructor is private.
        new ControlServer(std::move(*folder), std::move(*socket), std::move(set),
                          std::move(queries)));
  } catch (const NoThread& none) {
    return fail(Code::kUnavailable, none.what());
  }
}

ControlServer::ControlServer(Descriptor folder, Descriptor socket, Set set, Queries queries)
    : folder_(std::move(folder)),
      socket_(std::move(socket)),
      set_(std::move(set)),
      queries_(std::move(queries)) {
  thread_ = std::make_unique<Thread>(Thread::Options{.name = "control"}, [this] { serve(); });
}

ControlServer::~ControlServer() {
  ended_ = true;
  ::shutdown(socket_.number(), SHUT_RDWR);  // Ends serve()'s accept, which has no timeout.
  thread_.reset();
  ::unlinkat(folder_.number(), kControlName, 0);
}

void ControlServer::serve() {
  while (!ended_) {
    pollfd waiting{.fd = socket_.number(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, -1) <= 0) continue;
    const Descriptor caller(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (caller) answer(caller.number());
  }
}

void ControlServer::answer(int caller) const {
  set_patience(caller, 1);
  const auto line = receive_line(caller, kMostBytes);
  if (!line) return;
  const auto asked = parse_json(*line);
  for (const auto& [name, look] :
       {std::pair{"look", &queries_.status}, std::pair{"trace", &queries_.trace}}) {
    if (!asked.is_object() || !asked.contains(name) || !*look) continue;
    send_line(caller, (*look)());
    return;
  }
  const std::string key = asked.is_object() ? text_of(asked, "set") : "";
  if (key.empty()) {
    send_line(caller, json_text(nlohmann::json{{"error", "not understood"}}));
    return;
  }
  const auto done = set_(key, text_of(asked, "value"));
  send_line(caller, json_text(done ? nlohmann::json{{"done", *done}}
                                   : nlohmann::json{{"error", done.error().message}}));
}

Result<std::string> ask_to_set(const std::string& run_dir, const std::string& key,
                               const std::string& value) {
  const std::string line = json_text(nlohmann::json{{"set", key}, {"value", value}});
  if (line.size() >= ControlServer::kMostBytes) {
    return fail(Code::kInvalid, key.substr(0, 40) + ": the value is too long");
  }
  auto answered = ask(run_dir, line, ControlServer::kMostBytes);
  if (!answered) return pass(answered);
  const auto answer = parse_json(*answered);
  if (!answer.is_object()) return fail(Code::kUnavailable, "the job's answer is not understood");
  const std::string done = text_of(answer, "done");
  if (done.empty()) return fail(Code::kInvalid, text_of(answer, "error"));
  return done;
}

Result<std::string> ask_to_look(const std::string& run_dir) {
  return ask_for(run_dir, "{\"look\":true}");
}

Result<std::string> ask_to_trace(const std::string& run_dir) {
  return ask_for(run_dir, "{\"trace\":true}");
}

}  // namespace forebay
