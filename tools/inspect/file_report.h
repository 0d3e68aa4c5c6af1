#pragma once

#include <string>
#include <vector>

#include "engine/report/json_object.h"

namespace forebay {

/// What one file holds: words for a person, an object for a script.
struct FileReport {
  std::string title = {};               ///< `Criteo TSV, 3,000 rows, 700 KiB`
  std::vector<std::string> lines = {};  ///< What else there is to say.
  JsonObject json = {};                 ///< `path`, `kind` and the same figures.
};

}  // namespace forebay
