#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// The parts of an http or https URL, in the one form that all URLs of equal meaning have (RFC
/// 3986, 6.2.2). A value.
struct Url {
  std::string scheme;     ///< http | https
  std::string authority;  ///< Host, and the port unless it is the scheme's own: the Host header.
  std::string path;       ///< Begins with `/`.
  std::string query;      ///< Without `?`.

  std::string text() const;
};

/// Splits a URL; kInvalid, naming it, when it is not an http(s) URL or holds a user's name.
/// Characters that no URL may hold (blanks, control characters, bytes over 127, a % that begins no
/// escape) are encoded; the scheme, the host and escapes get their usual case; escapes that are not
/// needed, the segments `.` and `..`, and the scheme's own port are left out.
Result<Url> parse_url(const std::string& text);

/// Percent-encodes all but unreserved characters (RFC 3986), as S3 signs keys and parameters.
enum class Slash { kEncode, kKeep };
std::string percent_encode(std::string_view text, Slash slash);

/// Replaces each %XX by its byte; anything else stays.
std::string percent_decode(std::string_view text);

}  // namespace forebay
