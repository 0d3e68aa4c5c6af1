#include "actors/input/file_system.h"

#include <algorithm>
#include <filesystem>

#include "actors/input/local_file_system.h"

namespace forebay {

Status InputFile::read(std::uint64_t offset, std::span<char> out) const {
  auto got = read_at(offset, out);
  if (!got) return pass(got);
  if (*got < out.size()) return changed_since_indexed(path());
  return {};
}

tl::unexpected<Error> changed_since_indexed(const std::string& path) {
  return fail(Code::kCorrupt, path + " changed since it was indexed; run again");
}

// The only table of built-in file systems, one row each.
FileSystems::FileSystems()
    : rows_{{.prefix = "", .file_system = std::make_shared<const LocalFileSystem>()}} {}

void FileSystems::add(std::string prefix, std::shared_ptr<const FileSystem> file_system) {
  std::erase_if(rows_, [&prefix](const Row& row) { return row.prefix == prefix; });
  rows_.push_back({.prefix = std::move(prefix), .file_system = std::move(file_system)});
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
  return (std::filesystem::path(base_dir) / path).string();
}

std::string FileSystems::normal_path(const std::string& path, const std::string& base_dir) const {
  if (!row_of(path).prefix.empty()) return path;
  return (std::filesystem::path(base_dir) / path).lexically_normal().string();
}

std::vector<std::string> FileSystems::local_paths(const std::string& path,
                                                  const std::string& base_dir) const {
  const std::string pattern = full_path(path, base_dir);
  return of(pattern)->local_paths(pattern);
}

}  // namespace forebay
