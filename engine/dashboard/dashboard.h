#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/dashboard/http_server.h"
#include "engine/dashboard/page_access.h"
#include "engine/history/run_recorder.h"

namespace forebay {

/// The page of a running job: `/`, `/api/status`, `/api/history?seconds=N`, `/api/events`.
///
/// Owns the server. Reads the recorder, which outlives it, and changes nothing. At most kStreams
/// viewers get events at a time; each waits on a thread of its own and is cut off when it takes
/// nothing. open() listens at once; before a run has begun, the status says so.
class Dashboard {
 public:
  static constexpr int kStreams = 8;

  /// `address` is HOST:PORT; kInvalid: it is malformed, or nothing can listen there. `token`: of
  /// kTokenVariable, or empty.
  static Result<std::unique_ptr<Dashboard>> open(const std::string& address, std::string token,
                                                 RunRecorder& recorder);
  /// Ends the streams after the events that were added before.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  /// Returns the lines for the user: the page's address, with its token if that was made up, and
  /// beyond loopback that nothing is encrypted. Not for logs.
  std::string announcement() const;

 private:
  Dashboard(PageAccess::Options options, bool made_up, RunRecorder& recorder);
  HttpAnswer answer(const HttpRequest& request);
  HttpAnswer answer_path(const HttpRequest& request);
  HttpAnswer begin_stream();
  void stream(const HttpRequest& request, const HttpServer::Send& send);

  const PageAccess::Options options_;
  const PageAccess access_;
  const bool made_up_;  // the token
  RunRecorder& recorder_;
  Synchronized<int> streams_;
  std::atomic<bool> closing_{false};
  std::unique_ptr<HttpServer> server_;
};

}  // namespace forebay
