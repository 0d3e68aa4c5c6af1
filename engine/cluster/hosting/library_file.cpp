#include "engine/cluster/hosting/library_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/all_bytes.h"
#include "engine/actors/cluster/libraries/library_digest.h"

namespace forebay {

Result<LibraryFile> LibraryFile::open(const std::string& path) {
  LibraryFile opened;
  opened.file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat there {};
  if (!opened.file_ || ::fstat(opened.file_.number(), &there) != 0) {
    return fail(Code::kInvalid, std::strerror(errno));
  }
  opened.size_ = static_cast<std::uint64_t>(there.st_size);
  return opened;
}

Result<Frame> LibraryFile::part(std::uint64_t offset) const {
  if (offset >= size_ || offset % kLibraryChunk != 0) {
    return fail(Code::kInvalid, "no part of the library begins there");
  }
  const auto bytes = std::make_shared<std::vector<std::byte>>(library_part(size_, offset));
  const ssize_t got = read_all_at(file_.number(), *bytes, offset);
  if (got < 0) return fail(Code::kUnavailable, std::strerror(errno));
  if (static_cast<std::size_t>(got) < bytes->size()) {
    return fail(Code::kCorrupt, "its file was cut short; start that node again");
  }
  return Frame(bytes, bytes->data(), bytes->size());
}

Result<std::string> LibraryFile::digest() const {
  LibraryDigest digest;
  for (std::uint64_t offset = 0; offset < size_; offset += kLibraryChunk) {
    auto bytes = part(offset);
    if (!bytes) return pass(bytes);
    digest.add({bytes->data(), bytes->size()});
  }
  return digest.hex();
}

}  // namespace forebay
