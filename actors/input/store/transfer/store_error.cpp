#include "actors/input/store/transfer/store_error.h"

#include <algorithm>
#include <array>

#include "actors/input/file_system.h"
#include "actors/input/store/protocol/store_xml.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> codes) {
  return std::ranges::find(codes, code) != codes.end();
}

/// Whether an S3 error's code says that the credentials are wrong. Versity's gateway gives the last
/// one, for an unknown access key, with status 404.
bool blames_credentials(std::string_view code) {
  return is_one_of(code, {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken",
                          "InvalidToken", "TokenRefreshRequired", "XAdminUserNotFound"});
}

/// Returns s3://BUCKET of a path in a store.
std::string bucket_of(const std::string& path) {
  constexpr std::size_t kScheme = 5;  // s3://
  return path.substr(0, path.find('/', kScheme));
}

Error with_hint(const Target& target, const std::string& answer, const std::string& hint) {
  return {Code::kInvalid, target.path + " cannot be read: the store says " + answer + hint};
}

Error denied(const Target& target, const Refusal& said, const ResponseHead& head,
             const std::string& answer) {
  if (said.code == "RequestTimeTooSkewed") {
    const std::string time = said.server_time.empty() ? printable(head.date, 40) : said.server_time;
    return {Code::kInvalid, target.path +
                                " cannot be read: this machine's clock and the store's differ (the "
                                "store's is " +
                                time + "); set the clock"};
  }
  return with_hint(target, answer, target.is_s3() ? "; check what these credentials may read" : "");
}

}  // namespace

std::string describe_answer(const ResponseHead& head, std::string_view body) {
  const Refusal said = parse_refusal(body);
  std::string text = "HTTP " + std::to_string(head.status);
  if (!said.code.empty()) text += ' ' + said.code;
  if (!said.message.empty()) text += ": " + said.message;
  return text;
}

bool is_worth_repeating(const ResponseHead& head, std::string_view body) {
  constexpr std::array kPassing = {408, 429, 500, 502, 503, 504};
  if (std::ranges::find(kPassing, head.status) != kPassing.end()) return true;
  return head.status >= 400 &&
         is_one_of(parse_refusal(body).code, {"RequestTimeout", "SlowDown", "InternalError"});
}

std::string advice_on_trouble(const ResponseHead& head, std::string_view body) {
  const bool asks_for_less =
      head.status == 429 || head.status == 503 || parse_refusal(body).code == "SlowDown";
  if (!asks_for_less) return "; run again when the store is well";
  return "; the store asks for fewer requests: lower storage.connections, or run again later";
}

Error refusal_error(const Target& target, const ResponseHead& head, std::string_view body) {
  const Refusal said = parse_refusal(body);
  const std::string answer = describe_answer(head, body);
  const std::string region = said.region.empty() ? printable(head.region, 40) : said.region;
  const bool redirected = head.status == 301 || head.status == 307;
  if (target.is_s3() && !region.empty() && region != target.region &&
      (redirected || head.status == 400)) {
    return {Code::kInvalid, bucket_of(target.path) + " is in region " + region + ", not in " +
                                target.region + "; set storage.region = \"" + region + "\""};
  }
  if (blames_credentials(said.code)) {
    return with_hint(target, answer, "; check the credentials (storage.credentials)");
  }
  if (said.code == "NoSuchBucket") {
    return {Code::kNotFound, bucket_of(target.path) + " does not exist: the store says " + answer};
  }
  if (head.status == 404 || head.status == 410) {
    return {Code::kNotFound, target.path + " does not exist: the store says " + answer};
  }
  if (head.status == 412) return changed_since_indexed(target.path).value();
  if (head.status == 401 || head.status == 403 || head.status == 400) {
    return denied(target, said, head, answer);
  }
  if (redirected && target.is_s3()) {
    return with_hint(target, answer, "; check storage.endpoint and storage.region");
  }
  return with_hint(target, answer, "");
}

Error range_refusal_error(const Target& target, const ResponseHead& head, std::string_view body) {
  const bool is_gone =
      (head.status == 404 || head.status == 410) && !blames_credentials(parse_refusal(body).code);
  const bool changed = is_gone || head.status == 416;
  return changed ? changed_since_indexed(target.path).value() : refusal_error(target, head, body);
}

}  // namespace forebay
