#pragma once

#include <string>
#include <vector>

namespace forebay {

/// Rows as lines whose columns stand below each other, two spaces apart; UTF-8 characters count as
/// one. The last column is not padded.
std::vector<std::string> align_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace forebay
