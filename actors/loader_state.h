#pragma once

#include <map>
#include <string>

#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// All that a resume of the pipeline needs: how far it got, and what the order was a function of.
struct LoaderState {
  Position position;
  std::string fingerprint;  ///< Of the dataset.
  /// What else must be the same for the order to be: key of the job file (or a short name) to value
  /// or short hash, such as {"batch_size", "8192"}, {"transforms", "9f3c…"}.
  std::map<std::string, std::string> identity;

  bool operator==(const LoaderState&) const = default;
};

/// The state as one line of JSON: below 1 KB in exact order; splits finished ahead in arrival
/// order are written as ranges ("5-9,12").
std::string to_json(const LoaderState& state);

/// Reads what `to_json` wrote. Refuses anything else, an unknown version or key included;
/// `where` names the file in the message.
Result<LoaderState> parse_loader_state(const std::string& text, const std::string& where);

/// Refuses to go on from `saved` in a job whose start state is `now`, and names what differs.
/// Positions are not compared.
Status check_same_job(const LoaderState& saved, const LoaderState& now);

}  // namespace forebay
