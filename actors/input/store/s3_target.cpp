#include "actors/input/store/s3_target.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>

#include "actors/input/store/protocol/sigv4.h"
#include "actors/input/store/protocol/url.h"

namespace forebay {
namespace {

Result<Url> bucket_url(const StoreAccess& access, const std::string& bucket) {
  if (!access.endpoint.empty()) {
    // Not shown: a query may hold a key.
    if (access.endpoint.find_first_of("?#") != std::string::npos) {
      return fail(Code::kInvalid,
                  "storage.endpoint has a query (?) or a fragment (#), which no request would "
                  "have; write http://HOST[:PORT][/PATH]");
    }
    auto url = parse_url(access.endpoint);
    if (!url) return fail(Code::kInvalid, "storage.endpoint: " + url.error().message);
    while (url->path.ends_with('/')) url->path.pop_back();
    url->path += '/' + bucket;
    return url;
  }
  const std::string host = "s3." + access.region + ".amazonaws.com";
  // A certificate's wildcard covers no dot.
  const bool by_path = bucket.find('.') != std::string::npos;
  return Url{.scheme = "https",
             .authority = by_path ? host : bucket + '.' + host,
             .path = by_path ? '/' + bucket : "",
             .query = ""};
}

}  // namespace

std::string glob_prefix(const std::string& key) {
  return key.substr(0, key.find_first_of("*?[\\"));
}

Result<S3Name> s3_name(const std::string& path) {
  constexpr std::size_t kScheme = 5;  // s3://
  const auto slash = std::min(path.find('/', kScheme), path.size());
  S3Name name{.bucket = path.substr(kScheme, slash - kScheme),
              .key = slash < path.size() ? path.substr(slash + 1) : ""};
  const bool plain = std::ranges::all_of(name.bucket, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
  if (name.bucket.empty() || !plain) {
    return fail(Code::kInvalid, path + " names no bucket; write s3://BUCKET/KEY");
  }
  return name;
}

Result<std::shared_ptr<const Target>> s3_target(const StoreAccess& access, const std::string& path,
                                                const S3Name& name, const std::string& query) {
  auto url = bucket_url(access, name.bucket);
  if (!url) return pass(url);
  url->path += '/' + percent_encode(name.key, Slash::kKeep);
  url->query = query;
  return std::make_shared<const Target>(Target{
      .path = path,
      .url = std::move(*url),
      .region = access.region,
      .sign = [access](const std::string& method, const Url& to, Headers headers, std::time_t now) {
        return sign({.method = method, .url = to, .headers = std::move(headers)},
                    access.credentials, access.region, now);
      }});
}

std::string s3_list_query(const std::string& prefix, const std::string& token) {
  std::string query;
  if (!token.empty()) query = "continuation-token=" + percent_encode(token, Slash::kEncode) + '&';
  return query + "encoding-type=url&list-type=2&prefix=" + percent_encode(prefix, Slash::kEncode);
}

}  // namespace forebay
