#pragma once

#include <memory>
#include <string>

#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// The parts of s3://BUCKET/KEY.
struct S3Name {
  std::string bucket;
  std::string key;  ///< "": the bucket itself.
};

/// Returns what stands before the first character that makes a key a glob.
std::string glob_prefix(const std::string& key);

/// Splits a path that begins with s3://. kInvalid, naming the path: no bucket, or one that no store
/// has.
Result<S3Name> s3_name(const std::string& path);

/// Returns where a request for an object, or with a `query` for the bucket, goes. The requests are
/// signed as `access` says. A custom endpoint is addressed by path, AWS's own by the bucket's host
/// name. `path` is for messages. kInvalid: the endpoint is no
/// address, or has a query or fragment.
Result<std::shared_ptr<const Target>> s3_target(const StoreAccess& access, const std::string& path,
                                                const S3Name& name, const std::string& query = "");

/// Returns the query that lists the keys which begin with `prefix`, from the page of `token` on.
std::string s3_list_query(const std::string& prefix, const std::string& token);

}  // namespace forebay
