#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/dashboard/http_request.h"

namespace forebay {

/// Name of the environment's variable that gives the token.
inline constexpr char kTokenVariable[] = "FOREBAY_DASHBOARD_TOKEN";

/// Decides which requests may read the page. Pure.
///
/// Host headers: a page of another site that a browser was led to by a changed name server would
/// name its own host, so only names that a user types for this machine are served. Token: every
/// process of every machine that reaches the port could read the page, so beyond loopback, and
/// where a token was given, a request has it in its query or in a cookie.
class PageAccess {
 public:
  struct Options {
    std::string host;   ///< The address listened at: `127.0.0.1`, `0.0.0.0`, `::`, a name.
    std::string name;   ///< This machine's name.
    std::string token;  ///< "": requests need none.
  };
  explicit PageAccess(Options options) : options_(std::move(options)) {}

  /// Returns whether the header Host, with or without a port, names this server.
  bool knows_host(std::string_view header) const;

  enum class Entry : std::uint8_t {
    kRefused,
    kGranted,
    kByQuery,  ///< Granted by the query's token, which a cookie should replace.
  };
  Entry entry_of(const HttpRequest& request) const;

  /// Returns the header's value that makes a browser keep the token, not readable by scripts and
  /// sent only by this server's own pages.
  std::string cookie() const;

  bool needs_token() const { return !options_.token.empty(); }

 private:
  bool is_token(std::string_view given) const;

  const Options options_;
};

/// Returns a token of 128 random bits. kUnavailable: the kernel gave none.
Result<std::string> random_token();

/// Checks a token that a user gave: 16 to 128 letters, digits, `-` or `_`.
Status check_token(std::string_view token);

}  // namespace forebay
