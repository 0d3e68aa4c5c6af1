#include <exception>
#include <type_traits>
#include <utility>

#include <forebay/loader.h>

#include "engine/job/job_file.h"
#include "engine/loader/running_loader.h"
#include "engine/process/machine.h"

namespace forebay {
namespace {

/// A loader without a memory setting takes one part in so many of the available memory; the program
/// around it needs the rest.
constexpr std::uint64_t kUsualShare = 4;

JobDefaults defaults_here() {
  return {.cpus = available_cpus(), .memory_bytes = available_memory() / kUsualShare};
}

/// Translates an exception of a library (no memory, no thread) into an error for the caller.
template <class Function>
auto caught(const Function& function) -> std::invoke_result_t<Function> {
  try {
    return function();
  } catch (const std::exception& thrown) {
    return LoaderError{LoaderError::Code::kUnavailable, thrown.what(), ""};
  }
}

}  // namespace

Loader::Loader(std::unique_ptr<Running> running) : running_(std::move(running)) {}

Loader::Loader(Loader&& other) noexcept = default;
Loader& Loader::operator=(Loader&& other) noexcept = default;
Loader::~Loader() = default;

LoaderResult<Loader> Loader::open(const std::string& path, Options options) {
  return caught([&]() -> LoaderResult<Loader> {
    auto job = load_job(path, options.set, defaults_here(), options.transforms);
    return Running::opened(std::move(job), std::move(options));
  });
}

LoaderResult<Loader> Loader::open(const Job& job, Options options) {
  return caught([&]() -> LoaderResult<Loader> {
    const JobValues values{job.values, job.transforms, job.folder};
    auto spec = read_values(values, options.set, defaults_here());
    return Running::opened(std::move(spec), std::move(options));
  });
}

const LoaderSchema& Loader::schema() const { return running_->schema(); }

LoaderResult<std::optional<LoaderBatch>> Loader::next() {
  return caught([this] { return running_->next(); });
}

bool Loader::wait(std::chrono::nanoseconds patience) {
  const auto waited = caught([&]() -> LoaderResult<bool> { return running_->wait(patience); });
  return !waited || *waited;
}

void Loader::begin_epoch() { running_->begin_epoch(); }

LoaderStatus Loader::resume(const std::string& state) {
  return caught([&] { return running_->resume(state); });
}

LoaderEpoch Loader::epoch() const { return running_->epoch(); }
LoaderPosition Loader::position() const { return running_->position(); }
std::string Loader::state() const { return running_->state(); }
LoaderStats Loader::stats() const { return running_->stats(); }

LoaderResult<std::string> Loader::set(const std::string& key, const std::string& value) {
  return caught([&] { return running_->set(key, value); });
}

void Loader::stop() { running_->stop(); }

}  // namespace forebay
