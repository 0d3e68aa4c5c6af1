#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// The bytes of each output file that the input files gave, one list for each input file that is
/// done. Damaged rows may leave fewer outputs than were named.
using OutputSizes = std::vector<std::vector<std::uint64_t>>;

/// Returns the sizes as a conversion's state holds them: "700,512 88" of two inputs.
std::string to_text(const OutputSizes& sizes);

/// Reads the output of to_text(); nothing for any other text.
std::optional<OutputSizes> parse_output_sizes(std::string_view text);

}  // namespace forebay
