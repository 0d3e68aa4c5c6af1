#pragma once

#include <string>
#include <vector>

namespace forebay {

/// Returns rows as lines with aligned columns, two spaces apart; a UTF-8 character counts as one.
/// The last column is not padded.
std::vector<std::string> align_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace forebay
