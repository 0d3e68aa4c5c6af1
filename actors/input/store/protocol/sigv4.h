#pragma once

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/protocol/url.h"

namespace forebay {

/// Names of headers in lower case, with their values.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// What AWS Signature Version 4 signs of a request without a body. libcurl 7.88 signs by itself,
/// but sends no x-amz-content-sha256 and takes the query as it stands, which S3 refuses.
struct SignedRequest {
  std::string method;
  Url url;          ///< Path and query encoded as they are sent; parameters are sorted here.
  Headers headers;  ///< Those to sign in addition to host and x-amz-*.
  std::string service = "s3";
};

/// Returns all headers to send but `host`: the request's own, x-amz-date, x-amz-security-token,
/// x-amz-content-sha256 (for S3 alone) and authorization. Anonymous credentials add none. Pure.
Headers sign(const SignedRequest& request, const Credentials& credentials,
             const std::string& region, std::time_t now);

}  // namespace forebay
