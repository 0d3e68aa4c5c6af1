#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// All that a resume of the pipeline needs: how far it got, and what the order was a function of.
struct LoaderState {
  static constexpr std::uint64_t kVersion = 2;  ///< Of the format that is written.

  Position position;
  std::string fingerprint;  ///< Of the dataset.
  /// What else must be the same for the order to be: key of the job file (or a short name) to value
  /// or short hash, such as {"batch_size", "8192"}, {"transforms", "9f3c…"}.
  std::map<std::string, std::string> identity;
  /// Of the format that it was read from. A position of version 1 lacks `left_out`.
  std::uint64_t version = kVersion;

  bool operator==(const LoaderState&) const = default;
};

/// The state as one line of JSON, in the format of actors/README.md, "Loader states": below 1 KB in
/// exact order; splits finished ahead in arrival order are written as ranges ("5-9,12").
std::string to_json(const LoaderState& state);

/// Reads what `to_json` wrote, and version 1. Refuses anything else (kCorrupt) by the key that is
/// wrong, a later version (kInvalid) by its number; `where` names the file in the message. What the
/// numbers mean for a dataset is for check_position() to say.
Result<LoaderState> parse_loader_state(const std::string& text, const std::string& where);

/// What a user is told of a state that was read from an older format; empty: it was not.
std::string note_of_version(const LoaderState& state, const std::string& where);

/// Refuses to go on from `saved` in a job whose start state is `now`, and names what differs.
/// Positions are not compared.
Status check_same_job(const LoaderState& saved, const LoaderState& now);

}  // namespace forebay
