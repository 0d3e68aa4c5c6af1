#include "engine/control/control_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "engine/control/control_socket.h"

namespace forebay {
namespace {

/// Time for a client to send its line, and as much to receive the answer.
constexpr std::chrono::seconds kClient(1);
/// Milliseconds to wait where no descriptor is left for a client.
constexpr int kUntilDescriptors = 50;

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::open(const std::string& run_dir, Set set,
                                                           Queries queries) {
  auto folder = open_folder(run_dir);
  if (!folder) return pass(folder);
  auto socket = make_socket();
  if (!socket) return pass(socket);
  ::unlinkat(folder->number(), kControlName, 0);
  if (!listen_control(socket->number(), folder->number())) {
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
    if (caller) {
      answer(caller.number());
    } else if (!ended_) {
      ::poll(nullptr, 0, kUntilDescriptors);
    }
  }
}

void ControlServer::answer(int caller) const {
  const auto line = receive_line(caller, kMostControlBytes, kClient);
  if (!line) return;
  const auto asked = parse_json(*line);
  for (const auto& [name, look] :
       {std::pair{"look", &queries_.status}, std::pair{"trace", &queries_.trace}}) {
    if (!asked.is_object() || !asked.contains(name) || !*look) continue;
    send_line(caller, (*look)(), kClient);
    return;
  }
  const std::string key = text_at(asked, "set");
  if (key.empty()) {
    send_line(caller, json_text(nlohmann::json{{"error", "not understood"}}), kClient);
    return;
  }
  const auto done = set_(key, text_at(asked, "value"));
  send_line(caller,
            json_text(done ? nlohmann::json{{"done", *done}}
                           : nlohmann::json{{"error", done.error().message}}),
            kClient);
}

}  // namespace forebay
