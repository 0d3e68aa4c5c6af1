#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// All that a resume of the pipeline needs: how far the run got, and the inputs that determine the
/// order.
struct LoaderState {
  static constexpr std::uint64_t kVersion = 2;  ///< Version of the format that is written.

  Position position;
  std::string fingerprint;  ///< Of the dataset.
  /// Other inputs that must be the same for the order to be the same: key of the job file (or a
  /// short name) to value or short hash, such as {"batch_size", "8192"}, {"transforms", "9f3c…"}.
  std::map<std::string, std::string> identity;
  /// Version of the format that the state was read from. A position of version 1 lacks `left_out`.
  std::uint64_t version = kVersion;

  bool operator==(const LoaderState&) const = default;
};

/// Writes the state as one line of JSON, in the format of actors/README.md, "Loader states": below
/// 1 KB in exact order. Splits finished ahead in arrival order are written as ranges ("5-9,12").
std::string to_json(const LoaderState& state);

/// Reads the output of `to_json`, and version 1. Returns kCorrupt, naming the key that is wrong, or
/// kInvalid, naming the number, for a later version; `where` names the file in the message.
/// check_position() checks the numbers against the dataset. kCorrupt for more than `most_bytes`,
/// which are far more than a state of a run has.
Result<LoaderState> parse_loader_state(const std::string& text, const std::string& where,
                                       std::size_t most_bytes = 64 << 10);

/// The note for the user if the state was read from an older format; empty if it was not.
std::string note_of_version(const LoaderState& state, const std::string& where);

/// Returns an error that names the differences unless a job whose start state is `now` can continue
/// from `saved`. Does not compare positions.
Status check_same_job(const LoaderState& saved, const LoaderState& now);

}  // namespace forebay
