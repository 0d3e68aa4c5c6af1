#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// Rows as lines whose columns stand below each other, two spaces apart; UTF-8 characters count as
/// one. The last column is not padded.
std::vector<std::string> align_columns(const std::vector<std::vector<std::string>>& rows);

/// `text` for a terminal: control characters, backslashes and what is not UTF-8 as `\xNN` (a tab as
/// `\t`), cut after `most` characters, with `…` when it was cut.
std::string printable(std::string_view text, std::size_t most);

}  // namespace forebay
