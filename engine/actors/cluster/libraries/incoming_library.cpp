#include "engine/actors/cluster/libraries/incoming_library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/all_bytes.h"

namespace forebay {
namespace {

Error not_written(const std::string& path) {
  return {Code::kUnavailable, "it cannot be written to " + path + ": " + std::strerror(errno) +
                                  "; set TMPDIR to another folder"};
}

}  // namespace

Result<std::unique_ptr<IncomingLibrary>> IncomingLibrary::begin(const LibraryInfo& info) {
  auto made = std::unique_ptr<IncomingLibrary>(new IncomingLibrary(info));  // NOLINT: private.
  std::error_code problem;
  const std::string parent = std::filesystem::temp_directory_path(problem).string();
  if (problem) return fail(Code::kUnavailable, "TMPDIR names no folder: " + problem.message());
  std::string folder = parent + "/forebay-library-XXXXXX";
  // With mode 0700.
  if (::mkdtemp(folder.data()) == nullptr) return tl::unexpected<Error>(not_written(folder));
  made->folder_ = folder;
  made->path_ = folder + "/" + info.name;
  made->file_ = Descriptor(
      ::open(made->path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made->file_) return tl::unexpected<Error>(not_written(made->path_));
  return made;
}

IncomingLibrary::~IncomingLibrary() {
  if (folder_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

Status IncomingLibrary::write(const Frame& frame) {
  const std::string_view bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
  if (!write_all(file_.number(), bytes)) return tl::unexpected<Error>(not_written(path_));
  return {};
}

Status IncomingLibrary::take(const Frames& part) {
  if (is_complete() || part.size() != 1 || part[0].size() != library_part(info_.bytes, offset_)) {
    return fail(Code::kCorrupt, "a part of it came with " +
                                    std::to_string(forebay::bytes_of(part)) +
                                    " bytes, which is not its size");
  }
  if (auto status = write(part[0]); !status) return status;
  offset_ += part[0].size();
  digest_.add({part[0].data(), part[0].size()});
  if (!is_complete() || digest_.hex() == info_.digest) return {};
  return fail(Code::kCorrupt,
              "what came has the digest " + digest_.hex() + " and not " + info_.digest +
                  "; its file was changed since its node opened it: start that node again");
}

}  // namespace forebay
