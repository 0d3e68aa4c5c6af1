#include "tools/bench/store/stub_answer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <vector>

#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/protocol/sigv4.h"
#include "actors/input/store/protocol/url.h"
#include "core/base/random.h"
#include "core/base/text/hex.h"
#include "core/base/text/number.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string time_as(const char* format, std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), size};
}

std::string http_date(std::time_t time) { return time_as("%a, %d %b %Y %H:%M:%S GMT", time); }

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 206:
      return "Partial Content";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 503:
      return "Slow Down";
    default:
      return "Refused";
  }
}

std::string head_of(int status, std::uint64_t bytes, const std::string& more) {
  return "HTTP/1.1 " + std::to_string(status) + ' ' + reason_of(status) +
         "\r\nServer: stub\r\nDate: " + http_date(std::time(nullptr)) +
         "\r\nContent-Length: " + std::to_string(bytes) + "\r\n" + more + "\r\n";
}

std::optional<std::string> parameter(const std::string& query, const std::string& name) {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one.starts_with(name + '=')) return percent_decode(one.substr(name.size() + 1));
  }
  return std::nullopt;
}

std::optional<std::time_t> signing_time(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%Y%m%dT%H%M%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

/// Returns the headers that a client said it signed, but those that signing adds.
Headers signed_headers(const StubRequest& request, const std::string& authorization) {
  constexpr std::string_view kNames = "SignedHeaders=";
  Headers headers;
  const auto begin = authorization.find(kNames);
  if (begin == std::string::npos) return headers;
  std::string_view names = std::string_view(authorization).substr(begin + kNames.size());
  names = names.substr(0, names.find(','));
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(';'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    if (name == "host" || name.starts_with("x-amz-")) continue;
    headers.emplace_back(name, request.header(name));
  }
  return headers;
}

std::optional<StubAnswer> refused_signature(const StubRequest& request, const StubOptions& options,
                                            const std::string& host) {
  if (options.access_key.empty()) return std::nullopt;
  const std::string authorization = request.header("authorization");
  if (authorization.empty()) return stub_refusal(request, 403, "AccessDenied");
  const auto time = signing_time(request.header("x-amz-date"));
  if (!time) return stub_refusal(request, 403, "AccessDenied");
  constexpr std::time_t kMostApart = 900;
  const std::time_t now = std::time(nullptr) + options.clock_ahead;
  if (std::abs(*time - now) > kMostApart) {
    return stub_refusal(request, 403, "RequestTimeTooSkewed",
                        "<ServerTime>" + time_as("%Y-%m-%dT%H:%M:%SZ", now) + "</ServerTime>");
  }
  if (authorization.find('/' + options.region + "/s3/") == std::string::npos) {
    return stub_refusal(request, 400, "AuthorizationHeaderMalformed",
                        "<Region>" + options.region + "</Region>");
  }
  if (authorization.find("Credential=" + options.access_key + '/') == std::string::npos) {
    return stub_refusal(request, 403, "InvalidAccessKeyId");
  }
  SignedRequest as_signed{
      .method = request.method,
      .url = {.scheme = "http", .authority = host, .path = request.path, .query = request.query},
      .headers = signed_headers(request, authorization)};
  const Headers wanted =
      sign(as_signed,
           {.access_key = options.access_key, .secret = options.secret, .token = options.token},
           options.region, *time);
  const bool same = wanted.back().second == authorization &&
                    request.header("x-amz-security-token") == options.token;
  if (same) return std::nullopt;
  return stub_refusal(request, 403, "SignatureDoesNotMatch");
}

struct Listed {
  std::string key;
  std::uint64_t bytes = 0;
  std::string etag;
  std::time_t changed = 0;
};

std::string etag_of(const struct stat& about) {
  const std::uint64_t hash = mix64(mix64(static_cast<std::uint64_t>(about.st_size), about.st_ino),
                                   mix64(static_cast<std::uint64_t>(about.st_mtim.tv_sec),
                                         static_cast<std::uint64_t>(about.st_mtim.tv_nsec)));
  return '"' + hex_digits(hash) + '"';
}

std::vector<Listed> objects_of(const fs::path& bucket, const std::string& prefix) {
  std::vector<Listed> found;
  for (const auto& entry : fs::recursive_directory_iterator(bucket)) {
    struct stat about {};
    if (!entry.is_regular_file() || ::stat(entry.path().c_str(), &about) != 0) continue;
    const std::string key = entry.path().lexically_relative(bucket).string();
    if (!key.starts_with(prefix)) continue;
    found.push_back(
        {key, static_cast<std::uint64_t>(about.st_size), etag_of(about), about.st_mtim.tv_sec});
  }
  std::ranges::sort(found, {}, &Listed::key);
  return found;
}

StubAnswer listing(const StubRequest& request, const StubOptions& options, const fs::path& bucket) {
  const auto objects = objects_of(bucket, parameter(request.query, "prefix").value_or(""));
  const auto token = parse_number(parameter(request.query, "continuation-token").value_or("0"));
  const std::size_t begin = std::min<std::size_t>(token.value_or(0), objects.size());
  const std::size_t end = std::min(begin + options.page_keys, objects.size());
  const bool encoded = parameter(request.query, "encoding-type") == "url";
  std::string body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult>";
  if (encoded) body += "<EncodingType>url</EncodingType>";
  body += end < objects.size() ? "<IsTruncated>true</IsTruncated><NextContinuationToken>" +
                                     std::to_string(end) + "</NextContinuationToken>"
                               : "<IsTruncated>false</IsTruncated>";
  for (std::size_t i = begin; i < end; ++i) {
    const std::string& key = objects[i].key;
    body += "<Contents><Key>" + (encoded ? percent_encode(key, Slash::kKeep) : xml_text(key)) +
            "</Key><LastModified>" + time_as("%Y-%m-%dT%H:%M:%S.000Z", objects[i].changed) +
            "</LastModified><ETag>" + xml_text(objects[i].etag) + "</ETag><Size>" +
            std::to_string(objects[i].bytes) + "</Size></Contents>";
  }
  body += "</ListBucketResult>";
  if (options.cut_listings) body.resize(body.size() / 2);
  StubAnswer found;
  found.head = head_of(200, body.size(), "Content-Type: application/xml\r\n");
  found.body = std::move(body);
  return found;
}

struct WantedBytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Returns the bytes of `bytes=A-B` or `bytes=A-` that a file of this size has.
std::optional<WantedBytes> wanted_of(std::string_view range, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return std::nullopt;
  range.remove_prefix(kUnit.size());
  const auto dash = range.find('-');
  const auto first = parse_number(range.substr(0, dash));
  if (!first || *first >= size) return std::nullopt;
  const auto last = parse_number(range.substr(std::min(dash + 1, range.size())));
  return WantedBytes{*first, std::min(size, last ? *last + 1 : size)};
}

StubAnswer object(const StubRequest& request, const StubOptions& options, const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return stub_refusal(request, 404, "NoSuchKey");
  }
  if ((about.st_mode & S_IRUSR) == 0) return stub_refusal(request, 403, "AccessDenied");
  const std::string etag =
      options.without_etag ? "" : (options.weak_etag ? "W/" : "") + etag_of(about);
  const std::string changed = http_date(about.st_mtim.tv_sec);
  const std::string if_match = request.header("if-match");
  const std::string unmodified = request.header("if-unmodified-since");
  const bool matches = if_match == etag && !options.weak_etag;
  if ((!if_match.empty() && !matches && !options.ignore_if_match) ||
      (!unmodified.empty() && unmodified != changed)) {
    return stub_refusal(request, 412, "PreconditionFailed");
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  StubAnswer found;
  found.bytes = size;
  std::string more = "Accept-Ranges: bytes\r\n";
  if (!options.without_time) more += "Last-Modified: " + changed + "\r\n";
  if (!etag.empty()) more += "ETag: " + etag + "\r\n";
  if (const std::string range = request.header("range"); !range.empty() && !options.ignore_ranges) {
    const auto wanted = wanted_of(range, size);
    if (!wanted) {
      auto refused = stub_refusal(request, 416, "InvalidRange", "",
                                  "Content-Range: bytes */" + std::to_string(size) + "\r\n");
      return refused;
    }
    found.status = 206;
    found.offset = static_cast<std::int64_t>(wanted->begin);
    found.bytes = wanted->end - wanted->begin;
    more += "Content-Range: bytes " + std::to_string(wanted->begin) + '-' +
            std::to_string(wanted->end - 1) + '/' +
            (options.without_total ? "*" : std::to_string(size)) + "\r\n";
  }
  found.head = head_of(found.status, found.bytes, more);
  if (request.method == "HEAD") {
    found.bytes = 0;
    return found;
  }
  found.is_object = true;
  found.file = Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return found;
}

}  // namespace

StubRequest StubRequest::read(std::string_view head) {
  StubRequest request;
  const auto line_end = head.find("\r\n");
  std::string_view line = head.substr(0, line_end);
  request.method = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), request.method.size() + 1));
  const std::string_view target = line.substr(0, line.find(' '));
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  head.remove_prefix(std::min(head.size(), line_end + 2));
  while (!head.empty()) {
    const auto end = head.find("\r\n");
    const std::string_view one = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) continue;
    std::string name(one.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    const auto value = one.find_first_not_of(' ', colon + 1);
    request.headers[name] = value == std::string_view::npos ? "" : one.substr(value);
  }
  return request;
}

std::string StubRequest::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

StubAnswer stub_refusal(const StubRequest& request, int status, const std::string& code,
                        const std::string& more, const std::string& more_head) {
  StubAnswer refused;
  refused.status = status;
  const std::string body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code +
                           "</Code><Message>" + code + " of a stub</Message>" + more + "</Error>";
  refused.head = head_of(status, body.size(), "Content-Type: application/xml\r\n" + more_head);
  if (request.method != "HEAD") refused.body = body;
  return refused;
}

StubAnswer answer(const StubRequest& request, const StubOptions& options, const std::string& host) {
  if (options.garbage) {
    StubAnswer other;
    other.head = "SSH-2.0-stub\r\n";
    return other;
  }
  if (auto refused = refused_signature(request, options, host)) return std::move(*refused);
  if (request.method == "HEAD" && options.without_head) {
    return stub_refusal(request, 405, "MethodNotAllowed");
  }
  const std::string path = percent_decode(request.path);
  const auto slash = path.find('/', 1);
  const fs::path bucket = fs::path(options.folder) / path.substr(1, slash - 1);
  if (!fs::is_directory(bucket)) return stub_refusal(request, 404, "NoSuchBucket");
  if (parameter(request.query, "list-type")) return listing(request, options, bucket);
  return object(request, options, options.folder + path);
}

}  // namespace forebay
