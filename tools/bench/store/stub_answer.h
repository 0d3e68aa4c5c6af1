#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "tools/bench/store/stub_server.h"

namespace forebay {

/// A request without a body, as a StubServer reads it.
struct StubRequest {
  std::string method;
  std::string path;                                         ///< As sent.
  std::string query;                                        ///< As sent.
  std::map<std::string, std::string, std::less<>> headers;  ///< By their names in lower case.

  static StubRequest read(std::string_view head);
  std::string header(std::string_view name) const;
};

/// What a StubServer answers: a head, then a text or bytes of a file.
struct StubAnswer {
  int status = 200;
  std::string head;
  std::string body;
  Descriptor file;
  std::int64_t offset = 0;  ///< Of the file's bytes.
  std::uint64_t bytes = 0;  ///< Of the file, in the body.
  bool is_object = false;   ///< It may be hit by a fault.
};

/// Answers from the files of `options.folder`. Pure but for these files and the clock.
StubAnswer answer(const StubRequest& request, const StubOptions& options, const std::string& host);

/// The refusal with an S3 error's body.
StubAnswer stub_refusal(const StubRequest& request, int status, const std::string& code,
                        const std::string& more = "", const std::string& more_head = "");

}  // namespace forebay
