#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "actors/source/index/partial_file.h"
#include "actors/source/stored/file_list.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Whether a decompressed copy is required, or only makes reading faster. Optional copies leave a
/// tenth of the disk free.
enum class SpillNeed : std::uint8_t { kRequired, kOptional };

/// The folder of decompressed copies, and the accounting of their bytes.
///
/// Any thread may reserve space; one thread calls tidy() before that. Copies are kept for the next
/// run. A copy's name contains hashes of its source's path and stamp, so the copy is valid as long
/// as the source is unchanged.
class SpillFolder {
 public:
  SpillFolder(std::string path, std::uint64_t limit);

  /// Removes partial files of killed runs, copies whose source changed or is gone (according to the
  /// indexes in `index_folder` and to `systems`), and copies beyond the limit. Counts the bytes of
  /// all other copies as used.
  void tidy(const std::string& index_folder, const FileSystems& systems);

  const std::string& path() const { return path_; }
  std::string path_of(const ListedFile& file) const;
  /// Returns whether a copy of `bytes` bytes exists at `path`.
  static bool holds(const std::string& path, std::uint64_t bytes);

  std::uint64_t limit() const { return room_.limit(); }
  std::uint64_t used() const { return room_.used(); }
  /// Returns kOverloaded when the disk has too little free space for `bytes`.
  Status check_disk(std::uint64_t bytes, SpillNeed need) const;
  /// Reserves `bytes`; kOverloaded, with the reason, when the limit or the disk does not allow
  /// them.
  Status take(std::uint64_t bytes, SpillNeed need);
  void give(std::uint64_t bytes) { room_.give(bytes); }
  /// Removes a copy and releases its bytes.
  void remove(const std::string& path, std::uint64_t bytes);

 private:
  std::string path_;
  MemoryBudget room_;  // counts bytes on disk
};

/// A copy that is being written. Reserves space piece by piece; the destructor releases the space
/// of a copy that was not committed.
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
  std::uint64_t taken_ = 0;  // bytes to release
};

/// Formats `bytes` as a size in a job file, rounded up: 1230MiB.
std::string size_text(std::uint64_t bytes);

}  // namespace forebay
