#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Of the checkpoint after so many batches: "checkpoint-000000042", with more digits where it
/// takes them.
std::string checkpoint_name(std::uint64_t batches);

/// By number: names are padded to nine digits, and longer numbers are larger.
bool is_before(const std::string& a, const std::string& b);

/// The names of a directory's checkpoints, ascending; none where it cannot be read. Whatever else
/// begins like them, such as a copy "checkpoint-000000042.bak", is somebody's own.
std::vector<std::string> checkpoint_names(const std::string& directory);

/// The same; kUnavailable where the directory cannot be read.
Result<std::vector<std::string>> list_checkpoints(const std::string& directory);

/// What a store writes to until it is done, and what it is about to remove; both begin with
/// ".tmp-".
std::string unfinished_name(const std::string& checkpoint);
std::string set_aside_name(const std::string& checkpoint);

/// Whether a name is one that checkpoint_name() gives.
bool is_checkpoint_name(std::string_view name);

/// Whether a name is the one or the other of any checkpoint.
bool is_unfinished(std::string_view name);
bool is_set_aside(std::string_view name);

}  // namespace forebay
