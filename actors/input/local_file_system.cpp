#include "actors/input/local_file_system.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/descriptor.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

FileStamp stamp_of(const struct stat& about) {
  return {.bytes = static_cast<std::uint64_t>(about.st_size),
          .version = std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec};
}

FileInfo info_of(const std::string& path, const struct stat& about) {
  std::error_code no_current_folder;
  const fs::path absolute = fs::absolute(path, no_current_folder);
  return {.path = path,
          .absolute = (no_current_folder ? fs::path(path) : absolute).lexically_normal().string(),
          .key = std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino),
          .stamp = stamp_of(about)};
}

bool exists(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0;
}

Status look_at(const std::string& path, struct stat& about) {
  if (::stat(path.c_str(), &about) != 0) {
    return fail(errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                system_refusal(path, "cannot be read"));
  }
  if (S_ISDIR(about.st_mode)) {
    return fail(Code::kInvalid, path + " is a directory; name its files, as in " + path + "/*");
  }
  if (!S_ISREG(about.st_mode)) {
    return fail(Code::kInvalid, path + " is not a regular file; a dataset is read more than once");
  }
  return {};
}

class LocalFile final : public InputFile {
 public:
  LocalFile(FileInfo info, Descriptor descriptor, std::shared_ptr<IoCounts> counts)
      : InputFile(std::move(info)),
        descriptor_(std::move(descriptor)),
        counts_(std::move(counts)) {}

  Status check(const FileStamp& indexed) const override {
    struct stat about {};
    if (::fstat(descriptor_.number(), &about) != 0 || stamp_of(about) != indexed) {
      return changed_since_indexed(path());
    }
    return {};
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) const override {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t got = ::pread(descriptor_.number(), out.data() + filled, out.size() - filled,
                                  static_cast<off_t>(offset + filled));
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(Code::kUnavailable, system_refusal(path(), "cannot be read") + " at byte " +
                                            std::to_string(offset + filled));
      }
      filled += static_cast<std::size_t>(got);
    }
    if (counts_) counts_->add(1, filled);
    return filled;
  }

  // Reads only bytes that are in the page cache.
  std::size_t read_ready(std::uint64_t offset, std::span<char> out) const override {
    const iovec piece{.iov_base = out.data(), .iov_len = out.size()};
    const ssize_t got =
        ::preadv2(descriptor_.number(), &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (got <= 0) return 0;
    if (counts_) counts_->add(1, static_cast<std::uint64_t>(got));
    return static_cast<std::size_t>(got);
  }

  void will_read(std::uint64_t offset, std::uint64_t bytes) const override {
    ::posix_fadvise(descriptor_.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                    POSIX_FADV_WILLNEED);
  }

  void will_read_through() const override {
    ::posix_fadvise(descriptor_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

 private:
  Descriptor descriptor_;
  std::shared_ptr<IoCounts> counts_;
};

Result<std::unique_ptr<const InputFile>> open_counted(const std::string& path,
                                                      const std::shared_ptr<IoCounts>& counts) {
  struct stat about {};
  if (auto status = look_at(path, about); !status) return pass(status);
  Descriptor descriptor(open_file(path, O_RDONLY | O_NONBLOCK));
  if (!descriptor || ::fstat(descriptor.number(), &about) != 0) {
    return fail(is_out_of_descriptors(errno) ? Code::kUnavailable : Code::kInvalid,
                system_refusal(path, "cannot be read"));
  }
  return std::make_unique<const LocalFile>(info_of(path, about), std::move(descriptor), counts);
}

}  // namespace

std::string system_refusal(const std::string& path, const char* what) {
  return path + " " + what + ": " + system_words(errno);
}

Result<std::unique_ptr<const InputFile>> open_local_file(const std::string& path) {
  return open_counted(path, nullptr);
}

std::vector<std::string> LocalFileSystem::local_paths(const std::string& pattern) const {
  if (exists(pattern)) return {pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (code != 0) return {};
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::vector<FileInfo>> LocalFileSystem::list(const std::string& pattern) const {
  std::vector<FileInfo> files;
  for (const std::string& path : local_paths(pattern)) {
    auto info = stat(path);
    if (!info) return pass(info);
    files.push_back(std::move(*info));
  }
  return files;
}

Result<FileInfo> LocalFileSystem::stat(const std::string& path) const {
  struct stat about {};
  if (auto status = look_at(path, about); !status) return pass(status);
  return info_of(path, about);
}

Result<std::unique_ptr<const InputFile>> LocalFileSystem::open(const std::string& path) const {
  return open_counted(path, counts_);
}

}  // namespace forebay
