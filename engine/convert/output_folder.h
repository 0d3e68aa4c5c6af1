#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/loader_state.h"
#include "actors/source/dataset.h"
#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "engine/convert/output_kind.h"
#include "engine/convert/output_sizes.h"

namespace forebay {

/// How far a conversion got.
struct ConvertState {
  LoaderState loader;  ///< Its `split` counts the input files done.
  OutputSizes sizes = {};
};

/// The folder that a conversion fills: its files' names, and the state from which a killed
/// conversion goes on.
class OutputFolder {
 public:
  /// Name of the state in the folder, in the format of loader states, with the outputs' sizes.
  static constexpr char kState[] = "forebay-convert.json";

  explicit OutputFolder(std::string path) : path_(std::move(path)) {}

  /// Refuses (kInvalid) a folder with other content; `resumes`: one with content but without a
  /// state. An existing folder stays locked as long as the object lives: kUnavailable if another
  /// conversion writes into it. Changes nothing.
  Status check(bool resumes);
  /// Makes the folder if it does not exist, and checks it as check() does: from here on, only this
  /// conversion writes into it.
  Status hold(bool resumes);

  /// Whether the folder has a state.
  bool has_state() const;
  /// Reads the state; kInvalid unless it is one of the same conversion as `now`, its numbers fit
  /// `files`, and all outputs of the inputs done are there in their sizes. An older state lacks the
  /// sizes: then those on the disk are taken over.
  Result<ConvertState> read_state(const LoaderState& now,
                                  const std::vector<std::vector<std::string>>& files) const;
  Status write_state(const ConvertState& state) const;

  /// Returns the paths of the output files for each file of the dataset. kInvalid names two input
  /// files that would give one output.
  Result<std::vector<std::vector<std::string>>> paths(const Dataset& dataset,
                                                      const OutputKind& kind) const;

  /// Writes the state into the held folder, so that a conversion killed later can go on, and makes
  /// the folders of all files.
  Status begin(const ConvertState& state, const std::vector<std::vector<std::string>>& files) const;

 private:
  Status check_sizes(const OutputSizes& sizes,
                     const std::vector<std::vector<std::string>>& files) const;
  Result<OutputSizes> find_sizes(const Position& position,
                                 const std::vector<std::vector<std::string>>& files) const;
  std::string state_path() const { return path_ + "/" + kState; }

  std::string path_;
  Descriptor lock_;
};

/// Returns a file's name without the ending that a data file has: `day_0` for `day_0.tsv`, and `P`
/// for `P_dense.npy`.
std::string stem_of(const std::string& name);

}  // namespace forebay
