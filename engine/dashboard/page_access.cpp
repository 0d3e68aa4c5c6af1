#include "engine/dashboard/page_access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "core/base/text/hex.h"
#include "core/net/host_port.h"

namespace forebay {
namespace {

constexpr char kCookieName[] = "forebay_token";

/// Returns the host of `HOST`, `HOST:PORT` or `[HOST]:PORT`, in small letters.
std::string host_of(std::string_view header) {
  if (header.starts_with('[')) {
    const std::size_t end = header.find(']');
    header = end == std::string_view::npos ? "" : header.substr(1, end - 1);
  } else {
    header = header.substr(0, header.find(':'));
  }
  std::string host(header);
  std::ranges::transform(host, host.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return host;
}

bool is_address(const std::string& host) {
  in6_addr address = {};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool is_token_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
}

}  // namespace

bool PageAccess::knows_host(std::string_view header) const {
  const std::string host = host_of(header);
  if (host == "localhost" || is_loopback(host)) return true;
  if (is_loopback(options_.host) || host.empty()) return false;
  const std::string name = host_of(options_.name);
  return is_address(host) || host == host_of(options_.host) || host == name ||
         (!name.empty() && host.starts_with(name + "."));
}

// Takes the same time for any wrong token of the right length.
bool PageAccess::is_token(std::string_view given) const {
  if (given.size() != options_.token.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    different |=
        static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(options_.token[i]);
  }
  return different == 0;
}

PageAccess::Entry PageAccess::entry_of(const HttpRequest& request) const {
  if (options_.token.empty()) return Entry::kGranted;
  const auto cookie = cookie_value(request.cookie, kCookieName);
  const auto query = parameter(request.query, "token");
  if (query && is_token(*query)) return Entry::kByQuery;
  return cookie && is_token(*cookie) ? Entry::kGranted : Entry::kRefused;
}

// Lax: after a link in a page of another site a browser would not send a Strict cookie to the
// address that it is sent on to. The page is read-only, and others cannot read its answers.
std::string PageAccess::cookie() const {
  return std::string(kCookieName) + "=" + options_.token + "; Path=/; HttpOnly; SameSite=Lax";
}

Result<std::string> random_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail(Code::kUnavailable,
                "run.dashboard: the kernel gives no random token; set one with "
                "FOREBAY_DASHBOARD_TOKEN");
  }
  std::string token;
  for (const std::uint8_t byte : bytes) append_hex(token, byte);
  return token;
}

Status check_token(std::string_view token) {
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kMost = 128;
  if (token.size() >= kLeast && token.size() <= kMost &&
      std::ranges::all_of(token, is_token_letter)) {
    return {};
  }
  return fail(Code::kInvalid,
              std::string(kTokenVariable) +
                  ": must be 16 to 128 letters, digits, - or _; without it a random "
                  "token is made");
}

}  // namespace forebay
