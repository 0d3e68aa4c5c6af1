#include "engine/run/run_log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include "core/base/printable.h"

namespace forebay {
namespace {

constexpr std::size_t kMostLogBytes = 4 << 20;

}  // namespace

RunLog::RunLog(const std::string& run_dir, const std::string& command) {
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        run_dir + "/logs/" + command + ".log", kMostLogBytes, /*max_files=*/1);
    logger_ = std::make_shared<spdlog::logger>(command, std::move(sink));
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
    logger_->flush_on(spdlog::level::info);
    // Without a handler, it writes to stderr.
    logger_->set_error_handler([](const std::string&) {});
  } catch (const spdlog::spdlog_ex&) {
    logger_ = nullptr;
  }
}

RunLog::~RunLog() = default;

void RunLog::write(const std::string& line) {
  if (logger_) logger_->info("{}", printable_message(line));
}

}  // namespace forebay
