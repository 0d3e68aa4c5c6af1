#include "actors/source/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/base/open_files.h"

namespace forebay {
namespace {

FileStamp stamp_of(const struct stat& info) {
  return {.bytes = static_cast<std::uint64_t>(info.st_size),
          .mtime_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

tl::unexpected<Error> changed(const std::string& path) {
  return fail(Code::kCorrupt, path + " changed since it was indexed; run again");
}

// Asked before opening, which would wait on a FIFO and may act on a device.
Status check_is_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return fail(errno == ENOENT ? Code::kNotFound : Code::kInvalid,
                system_refusal(path, "cannot be read"));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(Code::kInvalid, path + " is a directory; name its files, as in " + path + "/*");
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::kInvalid, path + " is not a regular file; a dataset is read more than once");
  }
  return {};
}

}  // namespace

std::string system_refusal(const std::string& path, const char* what) {
  return path + " " + what + ": " + system_words(errno);
}

Result<InputFile> InputFile::open(const std::string& path) {
  if (auto status = check_is_file(path); !status) return pass(status);
  Descriptor descriptor(open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (!descriptor || ::fstat(descriptor.number(), &info) != 0) {
    return fail(is_out_of_descriptors(errno) ? Code::kUnavailable : Code::kInvalid,
                system_refusal(path, "cannot be read"));
  }
  return InputFile(path, std::move(descriptor), stamp_of(info));
}

Status InputFile::check(const FileStamp& indexed) const {
  struct stat info {};
  if (::fstat(descriptor_.number(), &info) != 0 || stamp_of(info) != indexed) return changed(path_);
  return {};
}

Result<std::size_t> InputFile::read_some(std::uint64_t offset, std::span<char> out) const {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::pread(descriptor_.number(), out.data() + filled, out.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(Code::kUnavailable, system_refusal(path_, "cannot be read") + " at byte " +
                                          std::to_string(offset + filled));
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Status InputFile::read(std::uint64_t offset, std::span<char> out) const {
  auto got = read_some(offset, out);
  if (!got) return pass(got);
  if (*got < out.size()) return changed(path_);
  return {};
}

}  // namespace forebay
