#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/s3_target.h"
#include "actors/input/store/transfer/store_client.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// The objects of S3 and of stores that speak its protocol, as s3://BUCKET/KEY.
///
/// What `access` lacks is the error of every call.
class S3FileSystem final : public FileSystem {
 public:
  S3FileSystem(Result<StoreAccess> access, std::shared_ptr<StoreClient> client);

  /// Lists what begins as the glob does before its first special character, a page at a time.
  /// kCorrupt for a page that is not whole; kOverloaded for more than a million files.
  Result<std::vector<FileInfo>> list(const std::string& pattern) const override;
  Result<FileInfo> stat(const std::string& path) const override;
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override;
  bool is_remote() const override { return true; }
  /// Needs no request for a file that list() found with this stamp.
  Result<std::unique_ptr<const InputFile>> open_listed(const std::string& path,
                                                       const FileStamp& stamp) const override;

 private:
  static Result<S3Name> name_of(const std::string& path);
  Result<std::shared_ptr<const Target>> target_of(const std::string& path, const S3Name& name,
                                                  const std::string& query) const;
  Result<std::vector<FileInfo>> list_glob(const std::string& pattern, const S3Name& glob) const;

  Result<std::shared_ptr<const Target>> file_target(const std::string& path) const;
  void remember(const std::string& path, const StoredVersion& version) const;
  std::unique_ptr<const InputFile> file(const std::string& path,
                                        std::shared_ptr<const Target> target,
                                        const StoredVersion& version) const;

  const Result<StoreAccess> access_;
  const std::shared_ptr<StoreClient> client_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, StoredVersion> found_;  // under mutex_
};

}  // namespace forebay
