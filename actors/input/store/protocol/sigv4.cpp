#include "actors/input/store/protocol/sigv4.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/base/text/hex.h"

namespace forebay {
namespace {

constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";
constexpr const char* kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::size_t kHashBytes = 32;
using Hash = std::array<unsigned char, kHashBytes>;

std::string hex_of(const Hash& hash) {
  std::string text;
  for (const unsigned char byte : hash) append_hex(text, byte);
  return text;
}

Hash sha256(std::string_view text) {
  Hash hash{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return hash;
}

Hash hmac(std::span<const unsigned char> key, std::string_view text) {
  Hash hash{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
  return hash;
}

std::string time_text(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), size};
}

/// The parameters sorted by name, each with a `=`.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const auto equals = one.find('=');
    const bool has_value = equals != std::string_view::npos;
    parameters.emplace_back(one.substr(0, equals), has_value ? one.substr(equals + 1) : "");
  }
  std::ranges::sort(parameters);
  std::string text;
  for (const auto& [name, value] : parameters) {
    text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
  }
  return text;
}

Hash signing_key(const std::string& secret, const std::string& day, const std::string& region,
                 const std::string& service) {
  const std::string first = "AWS4" + secret;
  Hash key = hmac({reinterpret_cast<const unsigned char*>(first.data()), first.size()}, day);
  for (const std::string& text : {region, service, std::string("aws4_request")}) {
    key = hmac(key, text);
  }
  return key;
}

struct CanonicalHeaders {
  std::string lines;
  std::string names;
};

CanonicalHeaders canonical_headers(Headers headers) {
  std::ranges::sort(headers);
  CanonicalHeaders found;
  for (const auto& [name, value] : headers) {
    found.lines.append(name).append(":").append(value).append("\n");
    found.names.append(found.names.empty() ? "" : ";").append(name);
  }
  return found;
}

}  // namespace

Headers sign(const SignedRequest& request, const Credentials& credentials,
             const std::string& region, std::time_t now) {
  Headers headers = request.headers;
  if (credentials.anonymous()) return headers;
  const std::string time = time_text(now);
  const std::string day = time.substr(0, 8);
  headers.emplace_back("x-amz-date", time);
  if (request.service == "s3") headers.emplace_back("x-amz-content-sha256", kHashOfNothing);
  if (!credentials.token.empty()) {
    headers.emplace_back("x-amz-security-token", credentials.token);
  }
  Headers all = headers;
  all.emplace_back("host", request.url.authority);
  const CanonicalHeaders canonical = canonical_headers(std::move(all));
  const std::string text = request.method + '\n' + request.url.path + '\n' +
                           canonical_query(request.url.query) + '\n' + canonical.lines + '\n' +
                           canonical.names + '\n' + kHashOfNothing;
  const std::string scope = day + '/' + region + '/' + request.service + "/aws4_request";
  const std::string to_sign =
      std::string(kAlgorithm) + '\n' + time + '\n' + scope + '\n' + hex_of(sha256(text));
  const Hash key = signing_key(credentials.secret, day, region, request.service);
  headers.emplace_back("authorization", std::string(kAlgorithm) +
                                            " Credential=" + credentials.access_key + '/' + scope +
                                            ", SignedHeaders=" + canonical.names +
                                            ", Signature=" + hex_of(hmac(key, to_sign)));
  return headers;
}

}  // namespace forebay
