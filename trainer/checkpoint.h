#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader_state.h"
#include "core/base/result.h"
#include "trainer/loss_window.h"
#include "trainer/model.h"

namespace forebay {

/// What a checkpoint holds beside the model.
struct TrainState {
  LoaderState loader;
  LossWindow losses;
};

/// One complete checkpoint on the disk.
struct Checkpoint {
  std::string path;                            ///< The directory.
  std::uint64_t batches = 0;                   ///< Trained on when it was taken.
  std::map<std::string, std::uint64_t> files;  ///< Name to size in bytes.
  TrainState state;
};

/// A directory of checkpoints, each a directory `checkpoint-<batches>` with
///
///   model.safetensors       weights                 (trainer/tensor_file.h)
///   optimizer.safetensors   the optimizer's state
///   loader.json             LoaderState             (actors/loader_state.h)
///   losses.json             {"steps": n, "last": […]}, the LossWindow
///   manifest.json           {"version": 1, "files": {name: {"bytes": n, "digest": hex}, …}}
///
/// Written aside as `.tmp-…`, synced, renamed: under its name a checkpoint is whole. Digests are
/// RunningDigest's. Keeps the last two. One process uses a directory at a time.
class CheckpointStore {
 public:
  /// Makes the directory where it is missing, and removes what a killed run left unfinished.
  static Result<CheckpointStore> open(const std::string& directory);

  /// Whether there is any checkpoint, damaged ones included.
  bool empty() const;

  /// Writes one; the previous stays until it is complete. Streams, and needs no memory to speak of.
  Result<std::string> save(Model& model, const TrainState& state);

  struct Found {
    std::optional<Checkpoint> checkpoint;  ///< The last complete one.
    std::vector<std::string> damaged;      ///< Later ones, one line each: which, and what is wrong.
  };
  /// Checks sizes and digests, the latest first.
  Result<Found> find_last() const;

  /// Fills the model from a checkpoint that `find_last` gave.
  Status load(const Checkpoint& checkpoint, Model& model) const;

  /// Removes every checkpoint, for a run that starts anew.
  Status clear();

 private:
  explicit CheckpointStore(std::string directory) : directory_(std::move(directory)) {}

  std::vector<std::string> names() const;  ///< Ascending.
  Status remove(const std::vector<std::string>& names) const;

  std::string directory_;
};

/// Reads one checkpoint's directory and checks its files against the manifest.
Result<Checkpoint> read_checkpoint(const std::string& path);

}  // namespace forebay
