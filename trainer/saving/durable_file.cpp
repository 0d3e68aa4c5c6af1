#include "trainer/saving/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/open_files.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Whether the error is temporary, so that the file may be readable later.
bool is_of_the_moment(int reason) {
  return reason == EACCES || reason == EPERM || reason == ENOMEM || is_out_of_descriptors(reason);
}

}  // namespace

tl::unexpected<Error> file_error(const std::string& path, const char* action) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return fail(full ? Code::kOverloaded : Code::kUnavailable,
              path + ": cannot " + action + ": " + system_words(errno));
}

tl::unexpected<Error> reading_error(const std::string& path, const char* action) {
  const int reason = errno;
  if (reason == ENOENT) return fail(Code::kCorrupt, path + " is missing");
  return fail(is_of_the_moment(reason) ? Code::kUnavailable : Code::kCorrupt,
              path + ": cannot " + action + ": " + system_words(reason));
}

void RunningDigest::add(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  while (size > 0) {
    if (piece_.empty() && size >= kPiece) {
      take_piece(bytes, kPiece);
      bytes += kPiece;
      size -= kPiece;
      continue;
    }
    const std::size_t part = std::min(size, kPiece - piece_.size());
    piece_.insert(piece_.end(), bytes, bytes + part);
    bytes += part;
    size -= part;
    if (piece_.size() == kPiece) {
      take_piece(piece_.data(), kPiece);
      piece_.clear();
    }
  }
}

Digest RunningDigest::finish() {
  take_piece(piece_.data(), piece_.size());
  return digest_;
}

void RunningDigest::take_piece(const std::byte* data, std::size_t size) {
  digest_ = digest_.then(Digest::of(data, size));
}

Result<DurableFile> DurableFile::create(const std::string& path) {
  const int descriptor = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (descriptor < 0) return file_error(path, "be created");
  return DurableFile(path, descriptor);
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      digest_(std::move(other.digest_)) {}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status DurableFile::write(const void* data, std::size_t size) {
  digest_.add(data, size);
  bytes_ += size;
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error(path_, "be written");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<DurableFile::Written> DurableFile::finish() {
  if (::fsync(descriptor_) != 0) return file_error(path_, "be synced");
  if (::close(std::exchange(descriptor_, -1)) != 0) return file_error(path_, "be closed");
  return Written{bytes_, digest_.finish()};
}

Status sync_file(const std::string& path) {
  const int descriptor = open_file(path, O_RDONLY);
  if (descriptor < 0) return file_error(path, "be opened");
  const bool synced = ::fsync(descriptor) == 0;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (!synced) return file_error(path, "be synced");
  return {};
}

Status sync_directory(const std::string& path) { return sync_file(path); }

Result<std::string> read_part(const std::string& path, std::size_t most) {
  auto text = read_whole(path, most);
  if (text) return text;
  const Code code = text.error().code;
  if (code == Code::kNotFound) return fail(Code::kCorrupt, path + " is missing");
  return fail(code == Code::kUnavailable ? code : Code::kCorrupt, text.error().message);
}

}  // namespace forebay
