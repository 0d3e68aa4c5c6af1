#include "actors/source/index/partial_file.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "actors/input/local_file_system.h"
#include "core/base/all_bytes.h"
#include "core/base/open_files.h"
#include "core/base/text/number.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".partial";

tl::unexpected<Error> refused(const std::string& path) {
  const bool passing =
      errno == ENOSPC || errno == EDQUOT || errno == EIO || is_out_of_descriptors(errno);
  return fail(passing ? Code::kUnavailable : Code::kInvalid,
              system_refusal(path, "cannot be written"));
}

// Returns the process number in "NAME.<process>.partial", 0 for any other name.
pid_t writer_of(std::string_view name) {
  if (!name.ends_with(kSuffix)) return 0;
  name.remove_suffix(kSuffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return 0;
  name.remove_prefix(dot + 1);
  return std::max(parse_number<pid_t>(name).value_or(0), 0);
}

}  // namespace

PartialFile::PartialFile(std::string path, std::string aside, Descriptor descriptor)
    : path_(std::move(path)), aside_(std::move(aside)), descriptor_(std::move(descriptor)) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      aside_(std::exchange(other.aside_, {})),
      descriptor_(std::move(other.descriptor_)),
      written_(other.written_) {}

PartialFile::~PartialFile() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

Result<PartialFile> PartialFile::create(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (fs::create_directories(folder, error); error) {
    return fail(Code::kInvalid, folder.string() + " cannot be made: " + error.message());
  }
  const std::string aside = path + "." + std::to_string(::getpid()) + std::string(kSuffix);
  Descriptor descriptor(
      open_file(aside, O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!descriptor) return refused(aside);
  return PartialFile(path, aside, std::move(descriptor));
}

Status PartialFile::write(std::span<const char> bytes) {
  if (!write_all(descriptor_.number(), {bytes.data(), bytes.size()})) return refused(path_);
  written_ += bytes.size();
  return {};
}

Status PartialFile::commit() {
  if (std::rename(aside_.c_str(), path_.c_str()) != 0) return refused(path_);
  aside_.clear();
  descriptor_ = Descriptor();
  return {};
}

void remove_dead_partials(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const pid_t writer = writer_of(entry.path().filename().string());
    if (writer == 0 || (::kill(writer, 0) == 0 || errno == EPERM)) continue;
    fs::remove(entry.path(), error);
  }
}

}  // namespace forebay
