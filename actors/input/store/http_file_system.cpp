#include "actors/input/store/http_file_system.h"

#include "actors/input/store/store_file.h"
#include "actors/input/store/store_stat.h"

namespace forebay {
namespace {

/// A parameter of a query may hold any of them.
bool is_glob(const Url& url) { return url.path.find_first_of("*[") != std::string::npos; }

FileInfo http_info(const Target& target, const StoredVersion& version) {
  return {.path = target.path,
          .absolute = target.url.text(),
          .key = target.url.text(),
          .stamp = stamp_of(version)};
}

}  // namespace

Result<std::shared_ptr<const Target>> http_target(const std::string& path) {
  auto url = parse_url(path);
  if (!url) return pass(url);
  return std::make_shared<const Target>(
      Target{.path = path, .url = std::move(*url), .region = "", .sign = {}});
}

Result<std::vector<FileInfo>> HttpFileSystem::list(const std::string& pattern) const {
  auto target = http_target(pattern);
  if (!target) return pass(target);
  if (is_glob((*target)->url)) {
    return fail(Code::kInvalid, pattern +
                                    " is a glob, and web servers do not list files; name each file "
                                    "(a * or [ of a name is written %2A or %5B)");
  }
  auto version = stat_target(*client_, *target);
  if (version) return std::vector<FileInfo>{http_info(**target, *version)};
  if (version.error().code == Code::kNotFound) return std::vector<FileInfo>{};
  return pass(version);
}

Result<FileInfo> HttpFileSystem::stat(const std::string& path) const {
  auto target = http_target(path);
  if (!target) return pass(target);
  auto version = stat_target(*client_, *target);
  if (!version) return pass(version);
  return http_info(**target, *version);
}

Result<std::unique_ptr<const InputFile>> HttpFileSystem::open(const std::string& path) const {
  auto target = http_target(path);
  if (!target) return pass(target);
  auto version = stat_target(*client_, *target);
  if (!version) return pass(version);
  FileInfo info = http_info(**target, *version);
  return std::unique_ptr<const InputFile>(
      std::make_unique<const StoreFile>(std::move(info), client_, std::move(*target), *version));
}

}  // namespace forebay
