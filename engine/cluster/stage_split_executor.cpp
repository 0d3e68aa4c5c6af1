#include "engine/cluster/stage_split_executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <malloc.h>

#include "core/base/clock.h"
#include "core/base/text/mib.h"
#include "engine/process/memory_use.h"

namespace forebay {
namespace {

constexpr std::size_t kOpenerStack = std::size_t{4} << 20;

/// A pool does not say which split failed; any failure ends the worker's part in the job.
scheduler::WorkFailed failure(std::uint64_t opening, const Error& error) {
  return {.opening = opening, .split = std::nullopt, .error = error};
}

/// A limit that is still enough if the process uses slightly more memory the next time.
std::uint64_t enough_for(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;
  return (bytes / kStep + 2) * kStep;
}

tl::unexpected<Error> too_little(const WorkerSetup& place, std::uint64_t own, std::uint64_t least) {
  return fail(Code::kOverloaded, "--memory " + as_mib_value(place.memory_bytes) +
                                     " is too little for this job: the worker itself takes " +
                                     in_mib(own) + " and its splits at least " + in_mib(least) +
                                     "; start it with --memory " +
                                     as_mib_value(enough_for(own + least)) + " or more");
}

}  // namespace

std::uint64_t StageSplitExecutor::taken() const {
  return std::max(options_.resident, resident_bytes()) + kMemorySlack;
}

Result<StageSplitExecutor::Opened> StageSplitExecutor::make_stages(const scheduler::JobShare& share,
                                                                   scheduler::WorkOpened& told) {
  const std::uint64_t opening = told.opening;
  auto text = decode_job_text(share.text);
  if (!text) return pass(text);
  auto energy = std::make_unique<Energy>();
  WorkerSetup place = options_.place;
  place.stopped = [this, opening] { return is_over(opening); };
  auto job = WorkerJob::open(*text, place);
  if (!job) return pass(job);
  const std::uint64_t own = taken() + (*job)->run().bytes_beside_buffers();
  const std::uint64_t least = NodeStages::least_room_of((*job)->run());
  told.misconfigured = own + least > options_.place.memory_bytes;
  if (told.misconfigured) return too_little(options_.place, own, least);
  auto stages = std::make_unique<NodeStages>(NodeStages::Options{
      .run = (*job)->run(),
      .room = options_.place.memory_bytes - own,
      .done =
          [this, opening](std::uint64_t split, Frames frames) {
            static_cast<void>(worker_.tell(scheduler::WorkDone{
                .opening = opening, .split = split, .frames = std::move(frames)}));
          },
      .failed =
          [this, opening](const Error& error) {
            static_cast<void>(worker_.tell(failure(opening, error)));
          },
      .opening = opening,
      .cpus = static_cast<double>(options_.place.cpus)});
  // "auto" begins without compression.
  const auto compression = value_in(kCompressionNames, (*job)->job().cluster.compress);
  stages->set_compression(compression.value_or(Compression::kNone));
  return Opened{.energy = std::move(energy), .job = std::move(*job), .stages = std::move(stages)};
}

void StageSplitExecutor::open_now(const scheduler::JobShare& job, std::uint64_t opening) {
  release_ended(opening);
  scheduler::WorkOpened told{.opening = opening, .fingerprint = "", .error = std::nullopt};
  auto opened = make_stages(job, told);
  if (stopped_) return;
  if (opened) {
    told.fingerprint = opened->job->fingerprint();
    const auto now = std::make_shared<Opened>(std::move(*opened));
    current_([&] { running_ = now; });
    options_.on_stages(now->stages.get(), now->job.get());
  } else {
    told.error = opened.error();
  }
  static_cast<void>(worker_.tell(std::move(told)));
}

// The stages' actors may still work on a split, and other threads may use what they got from
// with_stages(), so the job is released later.
void StageSplitExecutor::end_stages() {
  opener_.reset();
  Job before = current_([this] { return std::exchange(running_, nullptr); });
  if (before == nullptr) return;
  options_.on_stages(nullptr, nullptr);
  before->stages->stop();
  before->energy->meter.stop();
  ended_.push_back(std::move(before));
}

// Waits for the actors, whose memory the next job needs. An actor in a user's function that does
// not return keeps its job until a later opening.
void StageSplitExecutor::release_ended(std::uint64_t opening) {
  constexpr std::chrono::seconds kMost{30};
  constexpr std::chrono::milliseconds kBetween{5};
  if (ended_.empty()) return;
  const auto is_free = [](const Job& job) {
    return job.use_count() == 1 && job->stages->is_idle();
  };
  const auto until = clock_.now() + kMost;
  while (!std::ranges::all_of(ended_, is_free) && clock_.now() < until && !is_over(opening)) {
    static_cast<void>(Latch().wait_for(kBetween));
  }
  std::erase_if(ended_, is_free);
  ::malloc_trim(0);  // taken() counts free memory that the C library keeps, too
}

void StageSplitExecutor::open(const scheduler::JobShare& job, std::uint64_t opening) {
  opening_ = opening;
  serial_([&] {
    end_stages();
    if (stopped_) return;
    opener_ = std::make_unique<Thread>(Thread::Options{"open-job", kOpenerStack},
                                       [this, job, opening] { open_now(job, opening); });
  });
}

// An evicted worker's node stops while its actor, which lives until the network ends, may just
// receive a job again.
void StageSplitExecutor::stop() {
  stopped_ = true;
  serial_([this] { end_stages(); });
}

void StageSplitExecutor::with_stages(
    const std::function<void(NodeStages&, const WorkerJob&)>& use) const {
  if (const Job now = running()) use(*now->stages, *now->job);
}

void StageSplitExecutor::begin(std::uint64_t split) {
  if (const Job now = running()) now->stages->make(split);
}

std::uint32_t StageSplitExecutor::slots() const {
  const Job now = running();
  return now == nullptr ? 0 : static_cast<std::uint32_t>(now->stages->slots());
}

scheduler::SplitExecutor::Load StageSplitExecutor::load() {
  const std::chrono::nanoseconds now = clock_.now();
  const double cpu = process_cpu_seconds();
  Load load{.busy_cpus = 0, .memory_bytes = resident_bytes()};
  if (const Job opened = running()) {
    opened->stages->watch();
    load.could_make = opened->stages->could_make();
    load.busy = opened->stages->busy();
  }
  if (load_before_ && now > *load_before_) {
    load.busy_cpus = (cpu - cpu_before_) / in_seconds(now - *load_before_);
  }
  load_before_ = now;
  cpu_before_ = cpu;
  return load;
}

scheduler::JobUse StageSplitExecutor::use() const {
  const Job now = running();
  if (now == nullptr) return {};
  const IoCounts& counts = now->job->run().io_counts();
  const EnergyUse energy = now->energy->meter.used(process_cpu_seconds() - now->energy->cpu_before);
  return {.requests = counts.requests(),
          .bytes = counts.bytes(),
          .joules = energy.cpu_joules,
          .counted = energy.cpu_method == EnergyUse::Method::kRapl,
          .machine = machine_};
}

}  // namespace forebay
