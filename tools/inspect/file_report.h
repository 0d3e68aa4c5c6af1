#pragma once

#include <string>
#include <vector>

#include "engine/report/json_object.h"

namespace forebay {

/// The report on one file: text for a user, and a JSON object for a script.
struct FileReport {
  std::string title = {};               ///< For example `Criteo TSV, 3,000 rows, 700 KiB`.
  std::vector<std::string> lines = {};  ///< Further lines.
  JsonObject json = {};                 ///< `path`, `kind` and the same values.
};

}  // namespace forebay
