#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "actors/source/file_list.h"
#include "actors/source/partial_file.h"
#include "core/base/result.h"
#include "core/data/memory_budget.h"

namespace forebay {

/// Whether a decompressed copy has to be, or only makes reading faster; then a tenth of the disk
/// stays free.
enum class SpillNeed : std::uint8_t { kRequired, kOptional };

/// The folder of files written decompressed, and how many bytes may lie in it.
///
/// Any thread may ask for room; tidying is for one thread, before. Copies are kept for the next
/// run and named after their source's path and stamp, so one is valid if its source is unchanged.
class SpillFolder {
 public:
  SpillFolder(std::string path, std::uint64_t limit);

  /// Removes what killed runs left, copies whose source changed or is gone (told by the indexes in
  /// `index_folder` and `systems`), and copies past the limit. Counts the others.
  void tidy(const std::string& index_folder, const FileSystems& systems);

  const std::string& path() const { return path_; }
  std::string path_of(const ListedFile& file) const;
  /// Whether the copy at `path` is there with all its bytes.
  static bool holds(const std::string& path, std::uint64_t bytes);

  std::uint64_t limit() const { return room_.limit(); }
  std::uint64_t used() const { return room_.used(); }
  /// kOverloaded when the disk has less left than this.
  Status check_disk(std::uint64_t bytes, SpillNeed need) const;
  /// Sets room aside; kOverloaded, with the reason, when the limit or the disk has none.
  Status take(std::uint64_t bytes, SpillNeed need);
  void give(std::uint64_t bytes) { room_.give(bytes); }
  /// Removes a copy.
  void remove(const std::string& path, std::uint64_t bytes);

 private:
  std::string path_;
  MemoryBudget room_;  // of the disk; the counting is the same
};

/// A copy on its way: takes room piece by piece and gives it back when it dies unfinished.
class SpillCopy {
 public:
  static Result<SpillCopy> begin(SpillFolder& folder, const std::string& path, SpillNeed need);
  SpillCopy(SpillCopy&& other) noexcept
      : folder_(other.folder_),
        need_(other.need_),
        file_(std::move(other.file_)),
        taken_(std::exchange(other.taken_, 0)) {}
  SpillCopy& operator=(SpillCopy&&) = delete;
  ~SpillCopy() { folder_.give(taken_); }

  Status write(std::span<const char> content);
  Status commit();

 private:
  SpillCopy(SpillFolder& folder, SpillNeed need, PartialFile file)
      : folder_(folder), need_(need), file_(std::move(file)) {}

  SpillFolder& folder_;
  SpillNeed need_;
  PartialFile file_;
  std::uint64_t taken_ = 0;  // bytes to give back
};

/// `bytes` as a job file writes a size, rounded up: 1230MiB.
std::string size_text(std::uint64_t bytes);

}  // namespace forebay
