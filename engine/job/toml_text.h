#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "engine/job/toml_library.h"

namespace forebay {

/// The tables of `text`. kInvalid names the place in it and what is not valid TOML; `name` says
/// whose text it is.
Result<toml::table> read_toml(std::string_view text, std::string_view name);

/// Where `node` stands, as errors begin: "FILE, line N".
std::string at_line(std::string_view name, const toml::node& node);

}  // namespace forebay
