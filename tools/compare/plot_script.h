#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Where the script that draws plots is: beside the program, in its prefix's share/forebay, or in
/// the source tree that the program was built in; empty where it is nowhere.
std::string find_plot_script();

/// Runs the script as a process of its own on a report's folder and gives the names of what it drew
/// into `folder`/plots. kUnavailable, with what to install, when it cannot; when `stop` is set the
/// process is ended.
Result<std::vector<std::string>> draw_plots(const std::string& folder,
                                            const std::vector<std::string>& pipelines,
                                            const std::atomic<bool>& stop);

}  // namespace forebay
