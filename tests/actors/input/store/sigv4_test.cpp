#include "actors/input/store/protocol/sigv4.h"

#include <ctime>
#include <string>

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string value_of(const Headers& headers, const std::string& name) {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return "";
}

std::string signature_of(const Headers& headers) {
  const std::string authorization = value_of(headers, "authorization");
  return authorization.substr(authorization.find("Signature=") + 10);
}

constexpr std::time_t kVectorTime = 1440938160;  // 2015-08-30T12:36:00Z
const Credentials kVectorKeys{
    .access_key = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", .token = ""};

std::string vector_signature(const std::string& path, const std::string& query) {
  const SignedRequest request{.method = "GET",
                              .url = {.scheme = "https",
                                      .authority = "example.amazonaws.com",
                                      .path = path,
                                      .query = query},
                              .headers = {},
                              .service = "service"};
  return signature_of(sign(request, kVectorKeys, "us-east-1", kVectorTime));
}

// The published test suite of AWS Signature Version 4, by the names of its folders.
TEST_CASE("requests are signed as in the suite that AWS published", "[actors][store]") {
  // get-vanilla
  CHECK(vector_signature("/", "") ==
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  // get-vanilla-query-order-key-case
  CHECK(vector_signature("/", "Param2=value2&Param1=value1") ==
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  // get-vanilla-query-unreserved
  const std::string plain = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  CHECK(vector_signature("/", plain + '=' + plain) ==
        "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197");
}

// The examples of "Authenticating Requests (AWS Signature Version 4)" in the manual of S3.
TEST_CASE("requests to S3 are signed as in the examples of its manual", "[actors][store]") {
  const Credentials keys{.access_key = "AKIAIOSFODNN7EXAMPLE",
                         .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                         .token = ""};
  constexpr std::time_t kTime = 1369353600;  // 2013-05-24T00:00:00Z
  const auto signature = [&](const std::string& path, const std::string& query,
                             const Headers& headers) {
    const SignedRequest request{.method = "GET",
                                .url = {.scheme = "https",
                                        .authority = "examplebucket.s3.amazonaws.com",
                                        .path = path,
                                        .query = query},
                                .headers = headers};
    return signature_of(sign(request, keys, "us-east-1", kTime));
  };
  CHECK(signature("/test.txt", "", {{"range", "bytes=0-9"}}) ==
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  CHECK(signature("/", "lifecycle", {}) ==
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  CHECK(signature("/", "max-keys=2&prefix=J", {}) ==
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("a session's token is sent and signed", "[actors][store]") {
  Credentials keys = kVectorKeys;
  const SignedRequest request{
      .method = "GET",
      .url = {.scheme = "https", .authority = "h", .path = "/b/k", .query = ""},
      .headers = {}};
  const Headers without = sign(request, keys, "us-east-1", kVectorTime);
  keys.token = "token";
  const Headers with = sign(request, keys, "us-east-1", kVectorTime);
  CHECK(value_of(without, "x-amz-security-token").empty());
  CHECK(value_of(with, "x-amz-security-token") == "token");
  CHECK(value_of(with, "authorization").find("x-amz-security-token,") != std::string::npos);
  CHECK(signature_of(with) != signature_of(without));
}

TEST_CASE("anonymous requests carry only their own headers", "[actors][store]") {
  const SignedRequest request{
      .method = "GET",
      .url = {.scheme = "https", .authority = "h", .path = "/b/k", .query = ""},
      .headers = {{"range", "bytes=0-1"}}};
  CHECK(sign(request, {}, "us-east-1", kVectorTime) == request.headers);
}

}  // namespace
}  // namespace forebay
