#include "actors/input/file_system.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "actors/input/local_file_system.h"

namespace forebay {
namespace {

/// Reads the file in wait().
class DeferredRead final : public PendingRead {
 public:
  DeferredRead(const InputFile& file, std::vector<ReadRange> ranges)
      : file_(file), ranges_(std::move(ranges)) {}

  Status wait() override {
    for (const ReadRange& range : ranges_) {
      if (auto status = file_.read(range.offset, range.out); !status) return status;
    }
    return {};
  }

 private:
  const InputFile& file_;
  const std::vector<ReadRange> ranges_;
};

/// Returns the path of a file:// address; any other path as it is.
std::string without_file_scheme(const std::string& path) {
  for (const std::string_view scheme : {"file://localhost/", "file:///"}) {
    if (path.starts_with(scheme)) return path.substr(scheme.size() - 1);
  }
  return path;
}

constexpr std::string_view kGlobCharacters = "*?[\\";

/// Returns a glob that matches `text` alone.
std::string escaped_for_glob(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (kGlobCharacters.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

Status InputFile::read(std::uint64_t offset, std::span<char> out) const {
  auto got = read_at(offset, out);
  if (!got) return pass(got);
  if (*got < out.size()) return changed_since_indexed(path());
  return {};
}

std::unique_ptr<PendingRead> InputFile::begin_read(std::vector<ReadRange> ranges) const {
  return std::make_unique<DeferredRead>(*this, std::move(ranges));
}

tl::unexpected<Error> changed_since_indexed(const std::string& path) {
  return fail(Code::kCorrupt, path + " changed since it was indexed; run again");
}

// The only table of built-in file systems, one row each.
FileSystems::FileSystems(std::shared_ptr<IoCounts> counts)
    : counts_(std::move(counts)),
      rows_{{.prefix = "", .file_system = std::make_shared<const LocalFileSystem>(counts_)}} {}

void FileSystems::add(std::string prefix, std::shared_ptr<const FileSystem> file_system) {
  std::erase_if(rows_, [&prefix](const Row& row) { return row.prefix == prefix; });
  rows_.push_back({.prefix = std::move(prefix), .file_system = std::move(file_system)});
}

FileSystems FileSystems::seen_through(const FileView& view) const {
  FileSystems seen = *this;
  for (Row& row : seen.rows_) row.file_system = view(row.file_system);
  return seen;
}

const FileSystems::Row& FileSystems::row_of(const std::string& path) const {
  // A prefix that does not match ranks below "", which always matches.
  return *std::ranges::max_element(rows_, {}, [&path](const Row& row) {
    return path.starts_with(row.prefix) ? row.prefix.size() + 1 : 0;
  });
}

const std::shared_ptr<const FileSystem>& FileSystems::of(const std::string& path) const {
  return row_of(path).file_system;
}

std::string FileSystems::full_path(const std::string& path, const std::string& base_dir) const {
  if (!row_of(path).prefix.empty()) return path;
  return (std::filesystem::path(base_dir) / without_file_scheme(path)).string();
}

std::string FileSystems::normal_path(const std::string& path, const std::string& base_dir) const {
  if (!row_of(path).prefix.empty()) return path;
  return (std::filesystem::path(base_dir) / without_file_scheme(path)).lexically_normal().string();
}

std::string FileSystems::pattern(const std::string& path, const std::string& base_dir) const {
  std::string full = full_path(path, base_dir);
  const bool is_relative =
      row_of(path).prefix.empty() && std::filesystem::path(without_file_scheme(path)).is_relative();
  if (!is_relative || base_dir.find_first_of(kGlobCharacters) == std::string::npos) return full;
  // An existing file's path is no glob.
  std::error_code problem;
  if (std::filesystem::exists(full, problem)) return full;
  return full_path(path, escaped_for_glob(base_dir));
}

std::vector<std::string> FileSystems::local_paths(const std::string& path,
                                                  const std::string& base_dir) const {
  const std::string found = pattern(path, base_dir);
  return of(found)->local_paths(found);
}

}  // namespace forebay
