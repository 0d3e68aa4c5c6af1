#include "actors/input/store/s3_file_system.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fnmatch.h>

#include "actors/input/store/protocol/store_xml.h"
#include "actors/input/store/store_file.h"
#include "actors/input/store/store_stat.h"

namespace forebay {
namespace {

constexpr const char* kS3Scheme = "s3://";
constexpr std::size_t kMostListed = std::size_t{1} << 20;

FileInfo object_info(const std::string& path, const StoredVersion& version) {
  return {.path = path, .absolute = path, .key = path, .stamp = stamp_of(version)};
}

/// As glob(3) compares paths: no wildcard matches a `/`, or a dot that a name begins with.
bool matches(const std::string& glob, const std::string& key) {
  return ::fnmatch(glob.c_str(), key.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

/// Reads pages until one is the last, and keeps what matches.
class Lister {
 public:
  using Found = std::function<void(const std::string& path, const StoredVersion& version)>;

  Lister(StoreClient& client, const std::string& bucket, const std::string& glob, Found found)
      : client_(client), bucket_(bucket), glob_(glob), found_(std::move(found)) {}

  /// Returns whether another page follows, after token().
  Result<bool> add_page(const std::shared_ptr<const Target>& target) {
    auto reply = client_.call(target, {});
    if (!reply) return pass(reply);
    auto page = parse_list_page(reply->body);
    if (!page) return fail(page.error().code, kS3Scheme + bucket_ + ": " + page.error().message);
    for (const ListPage::Object& object : page->objects) add(object);
    if (files_.size() > kMostListed) {
      return fail(Code::kOverloaded,
                  kS3Scheme + bucket_ + '/' + glob_ +
                      " matches over a million files; use fewer and larger ones");
    }
    if (page->truncated && page->next == token_) {
      return fail(Code::kCorrupt, kS3Scheme + bucket_ + ": its listing does not go on");
    }
    token_ = std::move(page->next);
    return page->truncated;
  }

  const std::string& token() const { return token_; }

  std::vector<FileInfo> take() {
    std::vector<FileInfo>& found = exact_.empty() ? files_ : exact_;
    std::ranges::sort(found, {}, &FileInfo::path);
    return std::move(found);
  }

 private:
  void add(const ListPage::Object& object) {
    if (object.key.ends_with('/')) return;  // a folder, as some tools mark them
    const bool exact = object.key == glob_;
    if (!exact && !matches(glob_, object.key)) return;
    const std::string path = kS3Scheme + bucket_ + '/' + object.key;
    const StoredVersion version{.bytes = object.bytes, .etag = object.etag, .last_modified = ""};
    found_(path, version);
    (exact ? exact_ : files_).push_back(object_info(path, version));
  }

  StoreClient& client_;
  const std::string bucket_;
  const std::string glob_;
  const Found found_;
  std::string token_;
  std::vector<FileInfo> files_;
  std::vector<FileInfo> exact_;  // the file that the glob is the name of
};

}  // namespace

S3FileSystem::S3FileSystem(Result<StoreAccess> access, std::shared_ptr<StoreClient> client)
    : access_(std::move(access)), client_(std::move(client)) {}

Result<S3Name> S3FileSystem::name_of(const std::string& path) {
  auto name = s3_name(path);
  if (name && (name->key.empty() || name->key.ends_with('/'))) {
    const std::string folder = path + (path.ends_with('/') ? "*" : "/*");
    return fail(Code::kInvalid, path + " is not a file; name its files, as in " + folder);
  }
  return name;
}

Result<std::shared_ptr<const Target>> S3FileSystem::target_of(const std::string& path,
                                                              const S3Name& name,
                                                              const std::string& query) const {
  if (!access_) return tl::unexpected<Error>(access_.error());
  return s3_target(*access_, path, name, query);
}

Result<std::vector<FileInfo>> S3FileSystem::list_glob(const std::string& pattern,
                                                      const S3Name& glob) const {
  const std::string prefix = glob_prefix(glob.key);
  Lister lister(
      *client_, glob.bucket, glob.key,
      [this](const std::string& path, const StoredVersion& version) { remember(path, version); });
  while (true) {
    auto target = target_of(pattern, {.bucket = glob.bucket, .key = ""},
                            s3_list_query(prefix, lister.token()));
    if (!target) return pass(target);
    auto more = lister.add_page(*target);
    if (!more) return pass(more);
    if (!*more) return lister.take();
  }
}

Result<std::vector<FileInfo>> S3FileSystem::list(const std::string& pattern) const {
  auto name = name_of(pattern);
  if (!name) return pass(name);
  if (glob_prefix(name->key) != name->key) return list_glob(pattern, *name);
  auto info = stat(pattern);
  if (info) return std::vector<FileInfo>{std::move(*info)};
  // Without a bucket there is more to say than that the file is missing.
  const bool missing =
      info.error().code == Code::kNotFound && info.error().message.starts_with(pattern + ' ');
  return missing ? Result<std::vector<FileInfo>>(std::vector<FileInfo>{}) : pass(info);
}

Result<FileInfo> S3FileSystem::stat(const std::string& path) const {
  auto target = file_target(path);
  if (!target) return pass(target);
  auto version = stat_target(*client_, *target);
  if (!version) return pass(version);
  remember(path, *version);
  return object_info(path, *version);
}

Result<std::shared_ptr<const Target>> S3FileSystem::file_target(const std::string& path) const {
  auto name = name_of(path);
  if (!name) return pass(name);
  return target_of(path, *name, "");
}

void S3FileSystem::remember(const std::string& path, const StoredVersion& version) const {
  const std::lock_guard lock(mutex_);
  found_.insert_or_assign(path, version);
}

std::unique_ptr<const InputFile> S3FileSystem::file(const std::string& path,
                                                    std::shared_ptr<const Target> target,
                                                    const StoredVersion& version) const {
  return std::make_unique<const StoreFile>(object_info(path, version), client_, std::move(target),
                                           version);
}

Result<std::unique_ptr<const InputFile>> S3FileSystem::open_listed(const std::string& path,
                                                                   const FileStamp& stamp) const {
  StoredVersion version;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = found_.find(path); found != found_.end()) version = found->second;
  }
  // Without an ETag the store could not say that the file changed.
  if (version.etag.empty() || stamp_of(version) != stamp) return open(path);
  auto target = file_target(path);
  if (!target) return pass(target);
  return file(path, std::move(*target), version);
}

Result<std::unique_ptr<const InputFile>> S3FileSystem::open(const std::string& path) const {
  auto target = file_target(path);
  if (!target) return pass(target);
  auto version = stat_target(*client_, *target);
  if (!version) return pass(version);
  return file(path, std::move(*target), *version);
}

}  // namespace forebay
