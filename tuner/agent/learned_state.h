#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What an agent has learned about a job; a later run of the job starts from it.
struct LearnedState {
  PipelineDescription description;          ///< The stages that the state belongs to, by name.
  std::vector<std::vector<double>> stages;  ///< PipelineEstimate::save().
  std::vector<float> last_layer;            ///< The network's last layer after fine-tuning.
};

/// Encodes the state as JSON, with a version.
std::string encode_learned_state(const LearnedState& learned_state);

/// Returns nothing if the text is damaged, too long, of another version or of other stages than
/// `description`'s.
std::optional<LearnedState> decode_learned_state(std::string_view text,
                                                 const PipelineDescription& description);

}  // namespace forebay::tuner
