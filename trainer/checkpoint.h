#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader_state.h"
#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "trainer/loss_window.h"
#include "trainer/model.h"
#include "trainer/saving/manifest.h"

namespace forebay {

/// What a checkpoint holds beside the model's state.
struct TrainState {
  LoaderState loader;
  LossWindow losses = {};
  std::string evaluations =
      {};  ///< What evaluations found so far, as JSON; empty: there were none.
  /// Further small files by name, for whoever gave them: "model.json", "tuner/…".
  std::map<std::string, std::string> texts = {};
};

/// One complete checkpoint on the disk.
struct Checkpoint {
  std::string path;           ///< The directory.
  std::uint64_t batches = 0;  ///< Trained on when it was taken.
  Manifest manifest;
  TrainState state;
};

/// A directory of checkpoints, each a directory `checkpoint-<batches>` with
///
///   model.safetensors       weights                 (trainer/tensor_file.h)
///   optimizer.safetensors   the optimizer's state
///   tables.safetensors      what tables keep beside
///   tables/…                files of tables on the disk, as links
///   loader.json             LoaderState             (actors/loader_state.h)
///   losses.json             {"steps": n, "last": […]}, the LossWindow
///   evaluations.json        TrainState::evaluations, as it is; empty where there were none
///   …                       TrainState's texts
///   manifest.json           all files with their sizes and digests (trainer/saving/manifest.h)
///
/// Written aside as `.tmp-…`, synced, renamed: under its name a checkpoint is whole. Whatever has
/// another name (trainer/saving/checkpoint_names.h) stays as it is. One process has a
/// directory at a time, and one of its threads uses the store.
class CheckpointStore {
 public:
  /// Makes the directory where it is missing, and removes what a killed run left unfinished. The
  /// last `keep` checkpoints are kept, at least one. Refuses a directory that another store has:
  /// each would remove what the other is writing.
  static Result<CheckpointStore> open(const std::string& directory, std::size_t keep = 2);

  /// Whether there is any checkpoint, damaged ones included. False where the directory
  /// cannot be read: restore_last says so.
  bool empty() const;

  /// Writes one; the previous stays until it is complete. `go_on`, if any, is told how many bytes
  /// of tensors are written, and gives up (kTimeout) when it says false. Streams. Those it is one
  /// too many for are only set aside: the disk takes its time to remove them, see sweep().
  Result<std::string> save(StateSource& source, const TrainState& state,
                           const std::function<bool(std::uint64_t)>& go_on = {});

  /// Removes what was set aside; the next save() would, and so would open().
  Status sweep() const;

  struct Found {
    std::optional<Checkpoint> checkpoint;  ///< The last complete one.
    std::vector<std::string> damaged;      ///< Later ones, one line each: which, and what is wrong.
    bool touched = false;  ///< The model holds parts of damaged ones and is of no use.
  };
  /// Fills the model from the last whole checkpoint that `accept` agrees to; damaged ones are gone
  /// behind. What `accept` refuses, or a model of another shape, ends the search with that error,
  /// and so does a checkpoint of another version of the format.
  using Accept = std::function<Status(const Checkpoint&)>;
  Result<Found> restore_last(Model& model, const Accept& accept);

  /// Removes every checkpoint, for a run that starts anew.
  Status clear();

 private:
  CheckpointStore(std::string directory, std::size_t keep, Descriptor held)
      : directory_(std::move(directory)), keep_(keep), held_(std::move(held)) {}

  Status put_in_place(const std::string& aside, const std::string& name) const;
  Status set_aside(const std::vector<std::string>& names) const;

  std::string directory_;
  std::size_t keep_;
  Descriptor held_;  // of the directory, locked
  Manifest last_;    // of the checkpoint that was written or restored last: its bytes are known
};

/// How much of a checkpoint is checked against its manifest.
enum class Check : std::uint8_t {
  kSizes,    ///< That every file is there and whole; the tensors are checked as they are loaded.
  kDigests,  ///< Every byte.
};

/// Reads what one checkpoint's directory holds beside the tensors. kCorrupt where it is damaged,
/// kInvalid where it is of another version of the format.
Result<Checkpoint> read_checkpoint(const std::string& path, Check check);

/// Fills the model from a checkpoint that was read. Refuses (kInvalid) one of another shape before
/// anything is changed; that its bytes have changed (kCorrupt) may show after the model has.
Status load_checkpoint(const Checkpoint& checkpoint, Model& model);

}  // namespace forebay
