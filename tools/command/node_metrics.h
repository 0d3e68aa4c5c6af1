#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "engine/metrics/metrics_server.h"

namespace forebay {

/// Starts the metrics server for `--metrics ADDRESS` of a head or worker and reports its address;
/// returns null without an address. Everything that `collect` uses must outlive it.
Result<std::unique_ptr<MetricsServer>> node_metrics(
    const std::string& address, const std::function<void(const std::string&)>& say,
    MetricsServer::Collect collect);

}  // namespace forebay
