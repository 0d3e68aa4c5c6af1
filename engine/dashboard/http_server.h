#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/dashboard/http_request.h"

namespace forebay {

/// An answer that is sent as a whole. A value.
struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// A small HTTP/1.1 server on civetweb, for few clients that are not trusted.
///
/// Owns its threads and the socket. Each of its kThreads threads serves one request at a time and
/// then closes the connection; kWaiting connections wait for one, others are reset. A request has
/// at most kMostRequestBytes; a client that sends or takes no byte for kPatience is disconnected.
/// The destructor ends all connections and waits for the threads.
class HttpServer {
 public:
  static constexpr int kThreads = 12;
  static constexpr int kWaiting = 16;
  static constexpr int kMostRequestBytes = 8192;
  static constexpr int kPatienceMs = 2000;

  /// Sends a piece of a stream; returns false when the client is gone.
  using Send = std::function<bool(std::string_view text)>;
  struct Handlers {
    /// Answers a request; called on one of the server's threads.
    std::function<HttpAnswer(const HttpRequest&)> answer;
    /// Called after each answer of the type `text/event-stream`, whose body is its first piece,
    /// even if the client is gone already; the stream ends when it returns.
    std::function<void(const HttpRequest&, const Send&)> stream;
  };

  /// kInvalid: nothing can listen at HOST:PORT.
  static Result<std::unique_ptr<HttpServer>> open(const std::string& host, std::uint16_t port,
                                                  Handlers handlers);
  virtual ~HttpServer() = default;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  virtual std::uint16_t port() const = 0;

 protected:
  HttpServer() = default;
};

}  // namespace forebay
