#include "trainer/saving/last_checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/checkpoint_names.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

struct Search {
  Status read;
  bool lost = false;  ///< A checkpoint was removed while it was read.
};

/// Reads the first checkpoint that is sound.
Search read_first(const std::vector<std::string>& checkpoints, const CheckpointReading& reading) {
  Search search;
  for (const std::string& checkpoint : checkpoints) {
    search.read = reading.read(checkpoint);
    if (search.read) return search;
    std::error_code ignored;
    search.lost = !fs::exists(checkpoint, ignored);
    const bool is_last = &checkpoint == &checkpoints.back();
    if (search.lost || is_last || search.read.error().code != Code::kCorrupt) return search;
    reading.on_damaged(search.read.error());
  }
  return search;
}

}  // namespace

Result<std::vector<std::string>> checkpoints_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fail(Code::kNotFound, path + ": there is no such folder");
  }
  if (fs::exists(fs::path(path) / kManifestFile, error)) return std::vector{path};
  auto names = list_checkpoints(path);
  if (!names) return pass(names);
  if (names->empty()) return fail(Code::kNotFound, path + ": there is no checkpoint in it");
  std::vector<std::string> found;
  for (const std::string& name : *names) found.push_back((fs::path(path) / name).string());
  std::ranges::reverse(found);
  return found;
}

Status read_last_checkpoint(const std::string& path, const CheckpointReading& reading) {
  for (int searches = 0; searches < kMostSearches; ++searches) {
    auto checkpoints = checkpoints_at(path);
    if (!checkpoints) return pass(checkpoints);
    const Search search = read_first(*checkpoints, reading);
    if (!search.lost) return search.read;
  }
  return fail(Code::kUnavailable,
              path + ": " + std::to_string(kMostSearches) +
                  " checkpoints were removed while they were read; the run that saves there keeps "
                  "them longer with a larger trainer.keep");
}

}  // namespace forebay
