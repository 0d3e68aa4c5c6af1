#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Returns the path of the script that draws plots: beside the program, in its prefix's
/// share/forebay, or in the source tree that the program was built in; "" if it is in none of them.
std::string find_plot_script();

/// Runs the script in a separate process on a report's folder and returns the names of the plots in
/// `folder`/plots. kUnavailable says what to install if the script cannot run; when `stop` is set
/// the process is ended.
Result<std::vector<std::string>> draw_plots(const std::string& folder,
                                            const std::vector<std::string>& pipelines,
                                            const std::atomic<bool>& stop);

}  // namespace forebay
