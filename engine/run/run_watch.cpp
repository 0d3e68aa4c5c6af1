#include "engine/run/run_watch.h"

#include <chrono>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include "core/base/text/printable.h"

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kLookPeriod{200};
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

RunWatch::RunWatch(Options options)
    : options_(std::move(options)),
      log_(options_.job.run.dir, options_.name),
      stream_({.run = options_.run,
               .spec = options_.job.run,
               .events = options_.events,
               .say = [this](const std::string& what) { warn(what); }}) {
  log_.write(options_.name + " " + options_.job.path + " begins at batch " +
             std::to_string(options_.run.begin().batches));
  if (options_.events.view) {
    view_ = options_.events.view(
        {.run = options_.run,
         .job = options_.job,
         .log = [this](const std::string& line) { log_.write(line); },
         .memory_limit = [this] { return memory_limit(); },
         .last_decision = [tuning = options_.tuning]() -> std::string {
           return tuning != nullptr ? tuning->last_decision() : "";
         },
         .lookups = [this]() -> LookupCounts { return noted_([this] { return lookups_; }); },
         .cluster = options_.cluster});
  }
  ticker_.emplace(
      kLookPeriod, [this] { look(); }, [this](const Error& crash) { note_crash(crash); });
  watch_memory();
}

// The limit that applies now: the cgroup's may be below the tuner's.
std::uint64_t RunWatch::memory_limit() const {
  const Tuning* tuning = options_.tuning;
  return tuning != nullptr ? tuning->limits().memory_bytes : options_.job.pipeline.memory_bytes;
}

// The error is reported on the memory watch's own thread, since this one may be busy.
void RunWatch::watch_memory() {
  if (!options_.events.outgrown) return;
  const auto limit = [this] {
    return options_.tuning != nullptr ? options_.tuning->memory()
                                      : options_.job.pipeline.memory_bytes;
  };
  options_.run.memory_watch().watch({.limit = limit, .fail = [this](const std::string& what) {
                                       log_.write(what);
                                       if (options_.recorder != nullptr) {
                                         options_.recorder->end("failed", what);
                                       }
                                       options_.events.outgrown(what);
                                     }});
}

void RunWatch::look() {
  say_notes();
  stream_.look();
  if (view_) view_->look();
  if (options_.recorder != nullptr) options_.recorder->look();
}

// A look that throws again and again is reported once.
void RunWatch::note_crash(const Error& crash) {
  std::string line = "watching the run failed, and goes on: " + crash.message;
  if (line == crash_) return;
  note(line);
  crash_ = std::move(line);
}

void RunWatch::note(const std::string& line) {
  noted_([&] { notes_.push_back(line); });
}

void RunWatch::looked_up(const LookupCounts& lookups) {
  noted_([&] { lookups_ = lookups; });
  if (options_.recorder != nullptr) options_.recorder->looked_up(lookups.all, lookups.ready);
}

void RunWatch::say_notes() {
  const auto notes = noted_([this] { return std::exchange(notes_, {}); });
  for (const std::string& line : notes) say(line);
  if (options_.tuning == nullptr) return;
  for (const std::string& line : options_.tuning->take_notes()) warn(line);
}

void RunWatch::warn(const std::string& line) {
  if (options_.recorder != nullptr) options_.recorder->warn(line);
  say(line);
}

void RunWatch::say(const std::string& line) {
  log_.write(line);
  if (view_) {
    view_->say(line);
  } else {
    options_.events.announce(line);
  }
}

void RunWatch::end() {
  if (!ticker_) return;
  if (options_.events.outgrown) options_.run.memory_watch().stop();
  ticker_.reset();
  say_notes();
  view_.reset();
}

}  // namespace forebay
