#include "actors/source/spill_folder.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "actors/source/index/index_cache.h"
#include "core/base/text/mib.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKey = 16;  // hex digits of the hash of the source's path, and of its stamp

std::string stamp_key(const FileStamp& stamp) {
  return Digest::of(&stamp, sizeof stamp).hex().substr(0, kKey);
}
static_assert(sizeof(FileStamp) == 16, "hashed as it lies");

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

// Returns whether the source of a copy changed or is gone. The copy is named KEY-STAMP.NAME, and
// the index KEY.idx names its source.
bool is_stale(const std::string& name, const std::string& index_folder,
              const FileSystems& systems) {
  if (name.size() < 2 * kKey + 2) return true;
  const auto index = read_index(index_folder + "/" + name.substr(0, kKey) + ".idx");
  if (!index || name.substr(kKey + 1, kKey) != stamp_key(index->stamp)) return true;
  const auto source = systems.of(index->path)->stat(index->path);
  return !source || source->stamp != index->stamp;
}

// Returns the bytes that this process may still write to the disk under `folder`, and the disk's
// total bytes. `folder` need not exist yet.
std::pair<std::uint64_t, std::uint64_t> disk_of(fs::path folder) {
  struct statvfs disk {};
  while (::statvfs(folder.empty() ? "." : folder.c_str(), &disk) != 0) {
    if (!folder.has_parent_path() || folder.parent_path() == folder) return {~std::uint64_t{0}, 0};
    folder = folder.parent_path();
  }
  return {std::uint64_t{disk.f_bavail} * disk.f_frsize,
          std::uint64_t{disk.f_blocks} * disk.f_frsize};
}

}  // namespace

SpillFolder::SpillFolder(std::string path, std::uint64_t limit)
    : path_(std::move(path)), room_(limit) {}

void SpillFolder::tidy(const std::string& index_folder, const FileSystems& systems) {
  remove_dead_partials(path_);
  std::error_code error;
  std::vector<fs::path> copies;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    if (entry.path().extension() != ".partial") copies.push_back(entry.path());
  }
  std::sort(copies.begin(), copies.end());
  for (const fs::path& copy : copies) {
    const auto bytes = fs::file_size(copy, error);
    if (error || is_stale(copy.filename().string(), index_folder, systems) ||
        !room_.try_take(bytes)) {
      fs::remove(copy, error);
    }
  }
}

std::string SpillFolder::path_of(const ListedFile& file) const {
  return path_ + "/" + stem_of(index_path({}, file.absolute)) + "-" + stamp_key(file.stamp) + "." +
         fs::path(file.name).filename().string();
}

bool SpillFolder::holds(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size == bytes;
}

Status SpillFolder::check_disk(std::uint64_t bytes, SpillNeed need) const {
  const auto [free, all] = disk_of(path_);
  const std::uint64_t spared = need == SpillNeed::kOptional ? all / 10 : 0;
  if (free >= spared + bytes) return {};
  return fail(Code::kOverloaded, "the disk of " + path_ + " has " + size_text(free) + " free");
}

Status SpillFolder::take(std::uint64_t bytes, SpillNeed need) {
  if (auto status = check_disk(bytes, need); !status) return status;
  if (!room_.try_take(bytes)) {
    return fail(Code::kOverloaded, "run.spill = " + size_text(limit()) + " is used up");
  }
  return {};
}

void SpillFolder::remove(const std::string& path, std::uint64_t bytes) {
  std::error_code error;
  if (fs::remove(path, error)) give(bytes);
}

Result<SpillCopy> SpillCopy::begin(SpillFolder& folder, const std::string& path, SpillNeed need) {
  auto file = PartialFile::create(path);
  if (!file) return pass(file);
  return SpillCopy(folder, need, std::move(*file));
}

Status SpillCopy::write(std::span<const char> content) {
  if (auto status = folder_.take(content.size(), need_); !status) return status;
  taken_ += content.size();
  return file_.write(content);
}

Status SpillCopy::commit() {
  if (auto status = file_.commit(); !status) return status;
  taken_ = 0;
  return {};
}

std::string size_text(std::uint64_t bytes) {
  if (bytes % (1 << 20) != 0 && bytes < 1 << 20) return std::to_string(bytes) + " bytes";
  return as_mib_value(bytes);
}

}  // namespace forebay
