#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Returns the checkpoint `path` itself, or the checkpoints in the folder `path`, the last one
/// first. kNotFound: there is none.
Result<std::vector<std::string>> checkpoints_at(const std::string& path);

/// How read_last_checkpoint() reads one checkpoint, and whom it tells of a damaged one.
struct CheckpointReading {
  /// kCorrupt: the checkpoint is damaged, and one before it may do.
  std::function<Status(const std::string& checkpoint)> read;
  std::function<void(const Error& damage)> on_damaged;
};

/// Reads the checkpoint `path` itself, or the last one in the folder `path` that is sound.
///
/// A run may be saving to the folder: where a checkpoint was removed while it was read, the last
/// one is taken again, kMostSearches times in all; then kUnavailable.
inline constexpr int kMostSearches = 10;
Status read_last_checkpoint(const std::string& path, const CheckpointReading& reading);

}  // namespace forebay
