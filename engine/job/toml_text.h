#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "engine/job/toml_library.h"

namespace forebay {

/// Parses `text` into its tables. kInvalid says where and why it is not valid TOML; `name` is the
/// file in the message.
Result<toml::table> read_toml(std::string_view text, std::string_view name);

/// Returns the location of `node` as errors begin: "FILE, line N".
std::string at_line(std::string_view name, const toml::node& node);

}  // namespace forebay
