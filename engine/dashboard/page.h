#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// The page in one file, with all that it needs inside (engine/dashboard/page).
std::string_view page_html();

/// Returns the page with the records of one or two finished runs in it (run_recorder.h), each one
/// JSON object: it asks no server.
std::string report_html(const std::vector<std::string>& records);

}  // namespace forebay
