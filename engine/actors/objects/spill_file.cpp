#include "engine/actors/objects/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/all_bytes.h"

namespace forebay {
namespace {

/// Holes begin and end at blocks of the file system.
constexpr std::uint64_t kBlock = 4096;

Error disk_error(const char* what, const std::string& folder) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  return {full ? Code::kOverloaded : Code::kUnavailable,
          std::string("objects cannot be ") + what + " in " + folder + ": " + std::strerror(errno)};
}

std::string folder_or_default(const std::string& folder) {
  if (!folder.empty()) return folder;
  std::error_code none;
  return std::filesystem::temp_directory_path(none).string();
}

}  // namespace

Status SpillFile::open() {
  if (file_) return {};
  const std::string folder = folder_or_default(folder_);
  std::string path = folder + "/forebay-objects-XXXXXX";
  file_ = Descriptor(::mkostemp(path.data(), O_CLOEXEC));
  if (!file_) return tl::unexpected<Error>(disk_error("kept", folder));
  ::unlink(path.c_str());
  return {};
}

Result<std::uint64_t> SpillFile::write(std::span<const std::byte> bytes) {
  if (bytes.size() > limit_ - used_) {
    return fail(Code::kOverloaded, "the disk space for objects is full");
  }
  if (auto status = open(); !status) return pass(status);
  const std::uint64_t begin = end_;
  if (!write_all_at(file_.number(), bytes, begin)) {
    auto error = disk_error("written", folder_or_default(folder_));
    used_ += bytes.size();
    free(begin, bytes.size());
    return tl::unexpected<Error>(std::move(error));
  }
  used_ += bytes.size();
  end_ = (begin + bytes.size() + kBlock - 1) / kBlock * kBlock;
  return begin;
}

Status SpillFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  const ssize_t got = read_all_at(file_.number(), into, offset);
  if (got < 0) return tl::unexpected<Error>(disk_error("read", folder_or_default(folder_)));
  if (static_cast<std::size_t>(got) < into.size()) {
    return fail(Code::kCorrupt, "the file with objects was cut short");
  }
  return {};
}

void SpillFile::free(std::uint64_t offset, std::uint64_t size) {
  used_ -= size;
  const std::uint64_t blocks = (size + kBlock - 1) / kBlock * kBlock;
  // Without support for holes the space comes back when the process ends.
  static_cast<void>(::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(offset), static_cast<off_t>(blocks)));
}

}  // namespace forebay
