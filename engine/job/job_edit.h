#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// The text of a job file with one key of a table changed, or added where it is not given; comments
/// and order stay.
///
/// `table` and `key` as `pipeline.allocation` and `load`, `value` as TOML. kInvalid when the key is
/// written in a way that cannot be changed in place (an inline table); then nothing is lost.
Result<std::string> with_value(const std::string& text, std::string_view table,
                               std::string_view key, std::string_view value);

/// Replaces the content of a file at once: readers see the old one or the new one. Follows a link,
/// keeps the file's permissions.
Status replace_file(const std::string& path, const std::string& text);

/// Where replace_file() writes the new content first.
std::string new_copy_of(const std::string& path);

}  // namespace forebay
