#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/file_index.h"
#include "actors/source/partial_file.h"
#include "actors/source/restart_point.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// Where the index of the file at `absolute` is kept in `folder`.
std::string index_path(const std::string& folder, const std::string& absolute);

/// Reads an index file (windows, then the index, then where it begins in 8 bytes). kNotFound when
/// there is none, kInvalid for one of another version, kCorrupt for what is damaged or cannot be
/// read: it is made anew then.
Result<FileIndex> read_index(const std::string& path);

/// The restart at `point`, its window taken out of the index file. kCorrupt when that was damaged.
Result<Restart> read_restart(const InputFile& index_file, const RestartPoint& point);

/// Writes an index file: windows while the content is read, then the index. Used by one thread.
class IndexWriter final : public RestartLog {
 public:
  static Result<IndexWriter> create(const std::string& path);

  Status add(const RestartPoint& point, std::span<const char> window) override;
  /// The points so far, where their windows lie filled in.
  const std::vector<RestartPoint>& points() const { return points_; }
  /// Writes `index` after the windows and lets the file appear.
  Status finish(const FileIndex& index);

 private:
  explicit IndexWriter(PartialFile file) : file_(std::move(file)) {}

  PartialFile file_;
  std::vector<RestartPoint> points_;
};

}  // namespace forebay
