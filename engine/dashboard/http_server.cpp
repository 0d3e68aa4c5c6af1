#include "engine/dashboard/http_server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include <civetweb.h>
#include <strings.h>

#include "core/base/thread/start_thread.h"
#include "core/net/host_port.h"
#include "core/runtime/synchronized.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kBetweenWakes{20};
constexpr std::string_view kStream = "text/event-stream";

std::string header_of(const mg_connection* connection, const char* name) {
  const char* value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

int count_of(const mg_request_info& info, const char* name) {
  const std::span headers(static_cast<const mg_header*>(info.http_headers),
                          static_cast<std::size_t>(info.num_headers));
  return static_cast<int>(std::ranges::count_if(
      headers, [name](const mg_header& header) { return ::strcasecmp(header.name, name) == 0; }));
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

HttpRequest request_of(const mg_connection* connection) {
  const mg_request_info& info = *mg_get_request_info(connection);
  return {.method = text_of(info.request_method),
          .path = text_of(info.local_uri_raw),
          .query = text_of(info.query_string),
          .host = header_of(connection, "Host"),
          .hosts = count_of(info, "Host"),
          .cookie = header_of(connection, "Cookie"),
          .last_event_id = header_of(connection, "Last-Event-ID")};
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

std::string head_of(const HttpAnswer& answer) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " " + reason_of(answer.status);
  head += "\r\nContent-Type: " + answer.type;
  if (answer.type != kStream) {
    head += "\r\nContent-Length: " + std::to_string(answer.body.size());
  }
  for (const auto& [name, value] : answer.headers) {
    head.append("\r\n").append(name).append(": ").append(value);
  }
  return head + "\r\nConnection: close\r\n\r\n";
}

bool send(mg_connection* connection, std::string_view text) {
  return text.empty() || mg_write(connection, text.data(), text.size()) > 0;
}

class CivetServer final : public HttpServer {
 public:
  CivetServer(std::string host, Handlers handlers)
      : host_(std::move(host)), handlers_(std::move(handlers)) {}
  ~CivetServer() override {
    if (context_ != nullptr) stop();
  }

  bool listen(const std::string& at) {
    mg_callbacks callbacks = {};
    callbacks.begin_request = serve;
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
    const std::string threads = std::to_string(kThreads);
    const std::string waiting = std::to_string(kWaiting);
    const std::string bytes = std::to_string(kMostRequestBytes);
    const std::string patience = std::to_string(kPatienceMs);
    std::array<const char*, 19> options = {"listening_ports",
                                           at.c_str(),
                                           "num_threads",
                                           threads.c_str(),
                                           "connection_queue",
                                           waiting.c_str(),
                                           "max_request_size",
                                           bytes.c_str(),
                                           "request_timeout_ms",
                                           patience.c_str(),
                                           "enable_keep_alive",
                                           "no",
                                           "tcp_nodelay",
                                           "1",
                                           "decode_url",
                                           "no",
                                           "enable_auth_domain_check",
                                           "no",
                                           nullptr};
    mg_init_data init = {&callbacks, this, options.data()};
    context_ = mg_start2(&init, nullptr);
    return context_ != nullptr;
  }

  std::uint16_t port() const override {
    mg_server_port ports = {};
    return mg_get_server_ports(context_, 1, &ports) == 1 ? static_cast<std::uint16_t>(ports.port)
                                                         : std::uint16_t{0};
  }

 private:
  // civetweb looks only every two seconds whether it was stopped, or at the next connection.
  void stop() {
    const std::uint16_t at = port();
    Latch stopped;
    try {
      const Thread stopping({.name = "page-stop"}, [&] {
        mg_stop(context_);
        stopped.open();
      });
      while (!stopped.wait_for(kBetweenWakes)) is_listened_at(host_, at, kBetweenWakes);
    } catch (const NoThread&) {
      mg_stop(context_);
    }
  }

  static int serve(mg_connection* connection) {
    const auto* self = static_cast<const CivetServer*>(mg_get_request_info(connection)->user_data);
    const HttpRequest request = request_of(connection);
    const HttpAnswer answer = self->handlers_.answer(request);
    const Send sender = [connection](std::string_view text) { return send(connection, text); };
    static_cast<void>(sender(head_of(answer)) && sender(answer.body));
    if (answer.type == kStream) self->handlers_.stream(request, sender);
    return answer.status;
  }

  const std::string host_;
  const Handlers handlers_;
  mg_context* context_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& host, std::uint16_t port,
                                                     Handlers handlers) {
  auto server = std::make_unique<CivetServer>(host, std::move(handlers));
  const std::string at = HostPort{.host = host, .port = port}.text();
  if (!server->listen(at)) {
    return fail(Code::kInvalid, at + ": nothing can listen there; name a free HOST:PORT of this "
                                     "machine, port 0 for any");
  }
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace forebay
