#include "engine/run/run_watch.h"

#include <chrono>
#include <utility>

namespace forebay {
namespace {

constexpr std::chrono::milliseconds kLookPeriod{200};

}  // namespace

RunWatch::RunWatch(Options options)
    : options_(std::move(options)),
      log_(options_.job.run.dir, options_.name),
      stop_(options_.events.stop, options_.run),
      stalls_(options_.run, options_.job.run,
              {.warn = [this](const std::string& what) { say(what); },
               .fail = [this](const std::string& what) { stalled(what); }}) {
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
         .lookups = [this]() -> LookupCounts { return noted_([this] { return lookups_; }); }});
  }
  ticker_.emplace(kLookPeriod, [this] { look(); });
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
                                       options_.events.outgrown(what);
                                     }});
}

void RunWatch::look() {
  say_notes();
  stop_.look();
  if (view_) view_->look();
  stalls_.look();
}

void RunWatch::note(const std::string& line) {
  noted_([&] { notes_.push_back(line); });
}

void RunWatch::looked_up(const LookupCounts& lookups) {
  noted_([&] { lookups_ = lookups; });
}

void RunWatch::say_notes() {
  const auto notes = noted_([this] { return std::exchange(notes_, {}); });
  for (const std::string& line : notes) say(line);
  if (options_.tuning == nullptr) return;
  for (const std::string& line : options_.tuning->take_notes()) say(line);
}

void RunWatch::say(const std::string& line) {
  log_.write(line);
  if (view_) {
    view_->say(line);
  } else {
    options_.events.announce(line);
  }
}

// The thread that waits for a batch gets the error; stuck actors stay stuck.
void RunWatch::stalled(const std::string& what) {
  say(what);
  if (options_.events.stalled) options_.events.stalled(what);
  options_.run.pipeline().end_with({Code::kTimeout, what});
}

void RunWatch::end() {
  if (!ticker_) return;
  if (options_.events.outgrown) options_.run.memory_watch().stop();
  ticker_.reset();
  say_notes();
  view_.reset();
}

}  // namespace forebay
