#pragma once

#include <functional>
#include <optional>
#include <string>

#include "actors/input/store/storage_spec.h"
#include "core/base/result.h"

namespace forebay {

/// The identity that signs requests. Never logged, never part of a message.
struct Credentials {
  std::string access_key;  ///< "": requests are not signed.
  std::string secret;
  std::string token;  ///< Of a session; "" without one.

  bool anonymous() const { return access_key.empty(); }
};

/// Returns a variable of the environment; nothing if it is unset or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// What StorageSpec and the environment together say of an S3 store. A value.
struct StoreAccess {
  Credentials credentials;
  std::string endpoint;  ///< "": AWS's own.
  std::string region;
};

/// Reads keys, endpoint and region where `spec` says: of the environment, or of a profile in
/// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE (~/.aws/config). kInvalid
/// says which variable or profile is missing, never a value.
Result<StoreAccess> find_access(const StorageSpec& spec, const Environment& environment);

/// The process's environment.
Environment process_environment();

}  // namespace forebay
