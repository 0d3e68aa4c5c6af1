#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "actors/input/store/protocol/sigv4.h"
#include "actors/input/store/protocol/url.h"

namespace forebay {

/// One request of libcurl, used for one attempt after another. Belongs to the loop's thread.
class EasyHandle {
 public:
  /// What happens to an answer. The functions are called inside of the multi handle's.
  struct Receiver {
    std::function<void(std::string_view line)> head;
    std::function<bool(std::span<const char> bytes)> body;
  };

  EasyHandle();
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  struct Request {
    std::string method;
    Url url;
    Headers headers;
    bool follow = false;    ///< Redirects are.
    std::string ca_bundle;  ///< A file of certificates; "": the system's.
    std::chrono::milliseconds connect_within{0};
  };
  /// Prepares the handle for one request; the receiver is kept until the next.
  void prepare(const Request& request, Receiver receiver);

  CURL* get() const { return easy_.get(); }
  /// Describes the failure of a request that ended with `code`.
  std::string describe(CURLcode code) const;
  /// Returns how many redirects the request followed.
  long redirects() const;

 private:
  static std::size_t on_head(const char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t on_body(const char* bytes, std::size_t one, std::size_t size, void* self);

  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_;
  std::string why_;
  Receiver receiver_;
};

}  // namespace forebay
