#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The name of the checkpoint after so many batches: "checkpoint-000000042", with more digits if
/// needed.
std::string checkpoint_name(std::uint64_t batches);

/// Compares by number: names are padded to nine digits, and longer names have larger numbers.
bool is_before(const std::string& a, const std::string& b);

/// The names of a directory's checkpoints, ascending; empty if it cannot be read. Other names that
/// begin alike, such as a copy "checkpoint-000000042.bak", belong to users and are ignored.
std::vector<std::string> checkpoint_names(const std::string& directory);

/// The same; returns kUnavailable if the directory cannot be read.
Result<std::vector<std::string>> list_checkpoints(const std::string& directory);

/// The names under which a store writes an unfinished checkpoint, and keeps one that is to be
/// removed; both begin with ".tmp-".
std::string unfinished_name(const std::string& checkpoint);
std::string set_aside_name(const std::string& checkpoint);

/// Whether a name could be returned by checkpoint_name().
bool is_checkpoint_name(std::string_view name);

/// Whether a name is one of the two temporary names of any checkpoint.
bool is_unfinished(std::string_view name);
bool is_set_aside(std::string_view name);

}  // namespace forebay
