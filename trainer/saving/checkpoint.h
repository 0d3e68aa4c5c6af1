#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "actors/loader_state.h"
#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/train_loop.h"

namespace forebay {

/// The contents of a checkpoint: manifest.json,
/// {"version": 2, "files": {"name": {"bytes": n, "digest": hex, "inode": n}, …}, "digest": hex},
/// where the last digest covers all the rest.
struct Manifest {
  static constexpr int kVersion = 2;

  struct File {
    std::uint64_t bytes = 0;
    std::string digest;  ///< RunningDigest's, in hexadecimal digits.
    /// Of a file that is also linked elsewhere and never changed there: a link with the same name,
    /// size and inode has the same digest.
    std::optional<std::uint64_t> inode = {};

    bool operator==(const File&) const = default;
  };

  /// By name, relative to the checkpoint's folder: "loader.json",
  /// "tables/00000000000000000012.rows".
  std::map<std::string, File> files;

  bool operator==(const Manifest&) const = default;
};

std::string to_json(const Manifest& manifest);

/// Returns an error that begins with `path`: kCorrupt if `text` is not a manifest or names files
/// outside of the folder, kInvalid for another version of the format.
Result<Manifest> parse_manifest(const std::string& text, const std::string& path);

/// The contents of a checkpoint beside the model's state.
struct TrainState {
  LoaderState loader;
  LossWindow losses = {};
  std::string evaluations = {};  ///< Results of the evaluations so far, as JSON; empty: none.
  /// Further small files by name; their writers define the content: "model.json", "tuner/…".
  std::map<std::string, std::string> texts = {};
};

/// One complete checkpoint on the disk.
struct Checkpoint {
  std::string path;           ///< The directory.
  std::uint64_t batches = 0;  ///< Batches trained on when it was taken.
  Manifest manifest;
  TrainState state;
};

/// How thoroughly a checkpoint is checked against its manifest.
enum class Check : std::uint8_t {
  kSizes,    ///< Every file exists and has its size; tensors are checked as they are loaded.
  kDigests,  ///< Every byte.
};

/// Reads the contents of a checkpoint's directory except the tensors. Returns kCorrupt if it is
/// damaged, kInvalid if it has another version of the format.
Result<Checkpoint> read_checkpoint(const std::string& path, Check check);

/// Fills the model from a checkpoint that was read. Returns kInvalid for a checkpoint of another
/// shape before the model changes. Changed bytes (kCorrupt) may be found after the model has
/// changed.
Status load_checkpoint(const Checkpoint& checkpoint, Model& model);

/// The small file with the loader's state.
inline constexpr const char* kLoaderFile = "loader.json";

/// The small files of a checkpoint that hold its TrainState, by name.
std::map<std::string, std::string> to_texts(const TrainState& state);

}  // namespace forebay
