#include "actors/input/store/protocol/url.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/text/number.h"

namespace forebay {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

void append_percent(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::optional<int> hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

/// Returns the byte of the %XX at `at`, if there is one.
std::optional<char> escaped_byte(std::string_view text, std::size_t at) {
  if (text[at] != '%' || at + 2 >= text.size()) return std::nullopt;
  const auto high = hex_value(text[at + 1]);
  const auto low = hex_value(text[at + 2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

bool is_forbidden(char c) {  // bytes over 127 are negative
  return c <= ' ' || c == '\x7f' ||
         std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos;
}

/// Returns a path or query in the one form that all its equal spellings have (RFC 3986, 6.2.2): no
/// escapes but those that it needs, in upper case. Encodes a % that begins no escape, since it
/// could become the start of one.
std::string normal_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto escaped = escaped_byte(text, i);
    const char c = escaped.value_or(text[i]);
    const bool encode = escaped ? !is_unreserved(c) : c == '%' || is_forbidden(c);
    encode ? append_percent(out, c) : out.push_back(c);
    if (escaped) i += 2;
  }
  return out;
}

/// Returns a path that begins with `/` without the segments `.` and `..` (RFC 3986, 5.2.4).
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const auto end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    const bool is_parent = segment == "/..";
    if (!is_parent && segment != "/.") {
      out += segment;
      continue;
    }
    if (is_parent) out.resize(std::min(out.rfind('/'), out.size()));
    if (path.empty()) out += '/';
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return out;
}

struct HostAndPort {
  std::string_view host;
  std::string_view port;  // without the colon
};

// RFC 3986, 3.2: a name, an IPv4 address or an IPv6 address in brackets; then perhaps a port.
std::optional<HostAndPort> split_authority(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  auto end = authority.find(bracketed ? ']' : ':');
  if (bracketed && end == std::string_view::npos) return std::nullopt;
  end = bracketed ? end + 1 : std::min(end, authority.size());
  HostAndPort parts{authority.substr(0, end), authority.substr(end)};
  if (parts.host.empty() || parts.host == "[]") return std::nullopt;
  if (parts.port.empty()) return parts;
  if (!parts.port.starts_with(':')) return std::nullopt;
  parts.port.remove_prefix(1);
  return parts;
}

/// Returns the number of a port; nothing for a text that is not from 1 to 65535.
std::optional<std::uint16_t> port_number(std::string_view text) {
  const auto number = parse_number<std::uint16_t>(text);
  return number.value_or(0) > 0 ? number : std::nullopt;
}

}  // namespace

std::string Url::text() const {
  return scheme + "://" + authority + path + (query.empty() ? "" : "?" + query);
}

Result<Url> parse_url(const std::string& text) {
  const auto colon = text.find("://");
  Url url;
  if (colon != std::string::npos) url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https") {
    return fail(Code::kInvalid, text + " is not an address; write http://HOST[:PORT]");
  }
  std::string_view rest = std::string_view(text).substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  url.authority = lower(rest.substr(0, end));
  rest.remove_prefix(end);
  const auto parts = split_authority(url.authority);
  if (!parts || url.authority.find('@') != std::string::npos ||
      std::ranges::any_of(url.authority, is_forbidden)) {
    return fail(Code::kInvalid, url.scheme + " address without a plain host; write " + url.scheme +
                                    "://HOST[:PORT], without a user's name");
  }
  const auto port = port_number(parts->port);
  if (!port && !parts->port.empty()) {
    return fail(Code::kInvalid, url.scheme + "://" + std::string(parts->host) +
                                    ": its port is not a number from 1 to 65535");
  }
  url.authority.resize(parts->host.size());
  if (port && *port != (url.scheme == "http" ? 80 : 443)) {
    url.authority += ':' + std::to_string(*port);
  }
  const auto question = rest.find('?');
  url.path = without_dot_segments(normal_escapes(rest.substr(0, question)));
  if (url.path.empty()) url.path = "/";
  if (question != std::string_view::npos) url.query = normal_escapes(rest.substr(question + 1));
  return url;
}

std::string percent_encode(std::string_view text, Slash slash) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = is_unreserved(c) || (c == '/' && slash == Slash::kKeep);
    plain ? out.push_back(c) : append_percent(out, c);
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto escaped = escaped_byte(text, i);
    out += escaped.value_or(text[i]);
    if (escaped) i += 2;
  }
  return out;
}

}  // namespace forebay
