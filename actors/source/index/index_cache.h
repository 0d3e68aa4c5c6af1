#pragma once

#include <span>
#include <string>
#include <vector>

#include "actors/input/file_system.h"
#include "actors/source/index/file_index.h"
#include "actors/source/index/partial_file.h"
#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"

namespace forebay {

/// Returns the path in `folder` of the index of the file at `absolute`.
std::string index_path(const std::string& folder, const std::string& absolute);

/// Reads an index file (windows, then the index, then the offset of the index in 8 bytes).
/// kNotFound when the file does not exist, kInvalid for an index of another version, kCorrupt for
/// a file that is damaged or cannot be read. Indexing then reads the source file again.
Result<FileIndex> read_index(const std::string& path);

/// Returns the restart at `point` with its window from the index file; kCorrupt: a damaged window.
Result<Restart> read_restart(const InputFile& index_file, const RestartPoint& point);

/// Writes an index file: the windows during the pass, then the index. Used by one thread.
class IndexWriter final : public RestartLog {
 public:
  static Result<IndexWriter> create(const std::string& path);

  Status add(const RestartPoint& point, std::span<const char> window) override;
  /// Returns the points so far, with the locations of their windows filled in.
  const std::vector<RestartPoint>& points() const { return points_; }
  /// Writes `index` after the windows and commits the file.
  Status finish(const FileIndex& index);

 private:
  explicit IndexWriter(PartialFile file) : file_(std::move(file)) {}

  PartialFile file_;
  std::vector<RestartPoint> points_;
};

}  // namespace forebay
