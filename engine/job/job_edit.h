#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Returns the text of a job file with one key of a table changed, or added if it is missing;
/// comments and order stay.
///
/// Example: `table` is `pipeline.allocation`, `key` is `load`; `value` is TOML. kInvalid: the key
/// is written in a way that cannot be changed in place (an inline table); the text stays as it was.
Result<std::string> with_value(const std::string& text, std::string_view table,
                               std::string_view key, std::string_view value);

/// Replaces the content of a file atomically: readers see the old content or the new one. Follows a
/// link and keeps the file's permissions.
Status replace_file(const std::string& path, const std::string& text);

}  // namespace forebay
