#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What an agent knows of a job after running it: a later run starts from it.
struct LearnedState {
  PipelineDescription description;          ///< Whose learned state it is: its stages' names.
  std::vector<std::vector<double>> stages;  ///< PipelineEstimate::save().
  std::vector<float> last_layer;            ///< Of the network, as fine-tuned.
};

/// As JSON, with a version.
std::string encode_learned_state(const LearnedState& learned_state);

/// None when the text is damaged, too long, of another version or of other stages than
/// `description`'s.
std::optional<LearnedState> decode_learned_state(std::string_view text,
                                                 const PipelineDescription& description);

}  // namespace forebay::tuner
