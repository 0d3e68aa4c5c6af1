#include "actors/input/file_system.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
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

std::vector<std::string> FileSystems::local_paths(const std::string& path,
                                                  const std::string& base_dir) const {
  const std::string pattern = full_path(path, base_dir);
  return of(pattern)->local_paths(pattern);
}

}  // namespace forebay
