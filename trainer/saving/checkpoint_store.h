#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "trainer/saving/checkpoint.h"
#include "trainer/saving/checkpoint_names.h"

namespace forebay {

/// A directory of checkpoints, each a directory `checkpoint-<batches>` with
///
///   model.safetensors       weights                 (trainer/saving/tensor_file.h)
///   optimizer.safetensors   the optimizer's state
///   tables.safetensors      state of tables beside weights
///   tables/…                files of tables on the disk, as links
///   loader.json             LoaderState             (actors/loader_state.h)
///   losses.json             {"steps": n, "last": […]}, the LossWindow
///   evaluations.json        TrainState::evaluations, unchanged; empty without evaluations
///   …                       TrainState's texts
///   manifest.json           all files with their sizes and digests (trainer/saving/checkpoint.h)
///
/// Written aside as `.tmp-…`, synced, renamed: a checkpoint that has its name is complete. Entries
/// with other names (trainer/saving/checkpoint_names.h) are left alone. Only one process may use a
/// directory at a time, and only one of its threads may use the store.
class CheckpointStore {
 public:
  /// Creates the directory if it is missing, and removes the unfinished files of a killed run.
  /// Keeps the last `keep` checkpoints, at least one. Returns an error for a directory that another
  /// store uses: each would remove the files that the other is writing.
  static Result<CheckpointStore> open(const std::string& directory, std::size_t keep = 2);

  /// Whether there is no checkpoint, damaged ones included. False if the directory cannot be read;
  /// restore_last then reports the error.
  bool empty() const {
    const auto names = list_checkpoints(directory_);
    return names && names->empty();
  }

  /// How a message begins on a checkpoint that could not be written: what stands instead of it.
  std::string not_written() const {
    return std::string("checkpoint not written (") +
           (empty() ? "there is no earlier one" : "the last one stands") + "): ";
  }

  /// Writes a checkpoint; the previous one stays until it is complete. `go_on`, if set, receives
  /// the number of bytes of tensors written so far; the save is cancelled (kTimeout) when it
  /// returns false. Streams. Surplus checkpoints are only renamed, because removing them takes the
  /// disk a while; see sweep().
  Result<std::string> save(StateSource& source, const TrainState& state,
                           const std::function<bool(std::uint64_t)>& go_on = {});

  /// Removes the renamed surplus checkpoints, and what a save() that threw has left; the next
  /// save() and open() do so, too.
  Status sweep() const;

  struct Found {
    std::optional<Checkpoint> checkpoint;  ///< The last complete checkpoint.
    std::vector<std::string> damaged;      ///< Later checkpoints, one line each: name and damage.
    bool touched = false;  ///< The model holds parts of damaged checkpoints and cannot be used.
  };
  /// Fills the model from the last complete checkpoint that `accept` agrees to; later, damaged ones
  /// are skipped. An error of `accept`, a model of another shape, or a checkpoint of another
  /// version of the format ends the search with that error.
  using Accept = std::function<Status(const Checkpoint&)>;
  Result<Found> restore_last(Model& model, const Accept& accept);

  /// Removes every checkpoint, for a run that starts from the beginning.
  Status clear();

 private:
  CheckpointStore(std::string directory, std::size_t keep, Descriptor held)
      : directory_(std::move(directory)), keep_(keep), held_(std::move(held)) {}

  Status put_in_place(const std::string& aside, const std::string& name) const;
  Status set_aside(const std::vector<std::string>& names) const;

  std::string directory_;
  std::size_t keep_;
  Descriptor held_;  // of the locked directory
  Manifest last_;    // of the last checkpoint written or restored: its bytes are known
};

}  // namespace forebay
