#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace forebay {

/// Returns the path of the log of the central tuner's decisions.
std::string central_log_path(const std::string& run_dir);

/// Returns the path of the decision log of a node: `decisions-NODE.jsonl`, with the characters of
/// its name that are special in paths as `%XX`.
std::string node_log_path(const std::string& run_dir, const std::string& node);

/// Returns the path of an earlier log of the node in the same run: `decisions-NODE+1.jsonl` is the
/// first one.
std::string earlier_node_log_path(const std::string& run_dir, const std::string& node,
                                  std::uint32_t number);

/// Keeps the log of a node that a run has had `begun` logs of, where a new one is about to begin.
/// With 0 removes the earlier logs of the run before.
Status keep_node_log(const std::string& run_dir, const std::string& node, std::uint32_t begun);

/// Returns the node whose decision log has this file name; nullopt: it is no such log.
std::optional<std::string> node_of_log(std::string_view file_name);

}  // namespace forebay
