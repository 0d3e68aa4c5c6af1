#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "engine/metrics/metrics_server.h"

namespace forebay {

/// Serves what `--metrics ADDRESS` of a head or worker asks for, and says where; nothing without an
/// address. What `collect` uses must outlive it.
Result<std::unique_ptr<MetricsServer>> node_metrics(
    const std::string& address, const std::function<void(const std::string&)>& say,
    MetricsServer::Collect collect);

}  // namespace forebay
