#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/input/store/transfer/store_client.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// Returns where requests for a file of a web server go; kInvalid, naming `path`: it is no address.
Result<std::shared_ptr<const Target>> http_target(const std::string& path);

/// Files of web servers, as http:// or https:// addresses. They are read by ranges, without
/// credentials; redirects are followed. A web server cannot list, so a glob is refused.
class HttpFileSystem final : public FileSystem {
 public:
  explicit HttpFileSystem(std::shared_ptr<StoreClient> client) : client_(std::move(client)) {}

  Result<std::vector<FileInfo>> list(const std::string& pattern) const override;
  Result<FileInfo> stat(const std::string& path) const override;
  Result<std::unique_ptr<const InputFile>> open(const std::string& path) const override;
  bool is_remote() const override { return true; }

 private:
  const std::shared_ptr<StoreClient> client_;
};

}  // namespace forebay
