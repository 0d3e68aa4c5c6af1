#include "trainer/saving/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "core/base/all_bytes.h"
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

Status sync_to_disk(const std::string& path) {
  const Descriptor file(open_file(path, O_RDONLY));
  if (!file) return file_error(path, "be opened");
  if (::fsync(file.number()) != 0) return file_error(path, "be synced");
  return {};
}

// std::filesystem::copy_file calls a full disk an input/output error.
Status copy_whole(const std::string& from, const std::string& to) {
  constexpr int kMode = 0666;
  const Descriptor source(open_file(from, O_RDONLY));
  if (!source) return file_error(from, "be opened");
  const Descriptor target(open_file(to, O_WRONLY | O_CREAT | O_TRUNC, kMode));
  if (!target) return file_error(to, "be created");
  std::vector<std::byte> piece(kPiece);
  for (std::uint64_t offset = 0;; offset += piece.size()) {
    const ssize_t got = read_all_at(source.number(), piece, offset);
    if (got == 0) return {};
    if (got < 0) return file_error(from, "be read");
    piece.resize(static_cast<std::size_t>(got));
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (!write_all(target.number(), bytes)) return file_error(to, "be written");
  }
}

Result<std::string> read_part(const std::string& path, std::size_t most) {
  auto text = read_whole(path, most);
  if (text) return text;
  const Code code = text.error().code;
  if (code == Code::kNotFound) return fail(Code::kCorrupt, path + " is missing");
  return fail(code == Code::kUnavailable ? code : Code::kCorrupt, text.error().message);
}

}  // namespace forebay
