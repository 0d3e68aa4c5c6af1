#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forebay {

/// Returns the path of the log of the central tuner's decisions.
std::string central_log_path(const std::string& run_dir);

/// Returns the path of the decision log of a node: `decisions-NODE.jsonl`, with the characters of
/// its name that are special in paths as `%XX`.
std::string node_log_path(const std::string& run_dir, const std::string& node);

/// Returns the node whose decision log has this file name; nullopt: it is no such log.
std::optional<std::string> node_of_log(std::string_view file_name);

}  // namespace forebay
