#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/layout.h"

namespace forebay::tuner {

/// What an agent knows of a job after running it: a later run starts from it.
struct Experience {
  Layout layout;                            ///< Whose experience it is: its stages' names.
  std::vector<std::vector<double>> stages;  ///< PipelineEstimate::save().
  std::vector<float> last_layer;            ///< Of the network, as fine-tuned.
};

/// As JSON, with a version.
std::string encode_experience(const Experience& experience);

/// None when the text is damaged, too long, of another version or of other stages than `layout`'s.
std::optional<Experience> decode_experience(std::string_view text, const Layout& layout);

}  // namespace forebay::tuner
