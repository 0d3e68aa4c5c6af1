#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "actors/epoch_order.h"
#include "core/base/median.h"
#include "core/base/whole_file.h"
#include "core/net/curve_keys.h"
#include "core/runtime/synchronized.h"
#include "engine/cluster/node_stages.h"
#include "engine/job/job_file.h"
#include "engine/process/machine.h"
#include "engine/run/job_run.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_process.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/cluster/wire_bench.h"
#include "tools/process/process_end.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

/// The job file, and the size of its rows on the network.
struct Work {
  std::string folder;
  std::string job;
  std::uint64_t rows = 0;  ///< Of all epochs, like the two below.
  std::uint64_t splits = 0;
  std::uint64_t bytes = 0;
  double wide_row = 0;  ///< Bytes of a row with 64-bit ids and 32-bit lengths.
};

/// Passes an epoch's splits through the stages of a worker, a few at a time.
class Packing {
 public:
  explicit Packing(std::uint64_t splits) : splits_(splits) {}

  /// Blocks until all splits are packed; returns their bytes.
  Result<std::uint64_t> run(NodeStages& stages) {
    stages_ = &stages;
    const std::uint64_t first = std::min(splits_, kAtOnce);
    next_ = first;
    for (std::uint64_t split = 0; split < first; ++split) stages.make(split);
    over_.wait();
    if (error_) return tl::unexpected<Error>(*error_);
    return bytes_;
  }

  void packed(const Frames& frames) {
    const std::uint64_t next = serial_([&] {
      bytes_ += bytes_of(frames);
      if (++done_ == splits_) over_.open();
      return next_ < splits_ ? next_++ : splits_;
    });
    if (next < splits_) stages_->make(next);
  }

  void failed(const Error& error) {
    serial_([&] { error_ = error; });
    over_.open();
  }

 private:
  static constexpr std::uint64_t kAtOnce = 4;

  const std::uint64_t splits_;
  NodeStages* stages_ = nullptr;
  Latch over_;
  const Synchronized<> serial_;
  std::uint64_t next_ = 0;  // guarded by serial_, like those below
  std::uint64_t done_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<Error> error_;
};

/// Makes an epoch's splits with the stages of a worker, a few at a time. Writes the job's index.
Result<Work> pack_all(const BenchFolder& data) {
  constexpr std::uint64_t kEpochs = 20;
  auto file =
      write_job(data, 1'000'000,
                "[order]\nseed = 1\nbatch_size = 4096\nepochs = " + std::to_string(kEpochs) +
                    "\n[pipeline]\nmemory = \"1GiB\"\n"
                    "[tuner]\nmode = \"off\"\n");
  if (!file) return pass(file);
  Work work{.folder = data.path(), .job = *file};
  auto job = load_job(work.job, {}, {.cpus = available_cpus(), .memory_bytes = available_memory()});
  if (!job) return pass(job);
  std::filesystem::create_directories(job->run.dir);
  auto run = JobRun::open(*job, JobRun::Rows::kTraining,
                          {.announce = [](const std::string&) {},
                           .indexing = [](std::uint64_t, std::uint64_t) {},
                           .stopped = StopRequest::requested});
  if (!run) return pass(run);
  const std::uint64_t splits = EpochOrder((*run)->dataset(), (*run)->order()).num_splits();
  Packing packing(splits);
  NodeStages stages({.run = **run,
                     .room = job->pipeline.memory_bytes,
                     .done = [&](std::uint64_t, const Frames& frames) { packing.packed(frames); },
                     .failed = [&](const Error& error) { packing.failed(error); }});
  auto bytes = packing.run(stages);
  if (!bytes) return pass(bytes);
  const Schema& schema = (*run)->schema();
  work.rows = (*run)->dataset().rows() * kEpochs;
  work.splits = splits * kEpochs;
  work.bytes = *bytes * kEpochs;
  work.wide_row =
      static_cast<double>(sizeof(float) * (1 + schema.dense.size()) +
                          (sizeof(std::int64_t) + sizeof(std::int32_t)) * schema.sparse.size());
  return work;
}

/// Waits until the trainer listens; returns its address.
Result<std::string> await_address(const Work& work, MeasuredProgram& trainer) {
  for (int i = 0; i < 6000 && !trainer.has_ended(); ++i) {
    std::ifstream file(work.folder + "/.forebay/address");
    std::string address;
    if (std::getline(file, address) && !address.empty()) return address;
    static_cast<void>(Latch().wait_for(5ms));
  }
  return fail(Code::kUnavailable, "the trainer's end of the benchmark does not listen");
}

Result<double> local_cpu(const Work& work, const std::string& program) {
  auto trainer =
      MeasuredProgram::start({program, "ingest", work.job, "--json"}, work.folder + "/local.out");
  if (!trainer) return pass(trainer);
  return trainer->cpu_seconds();
}

/// `keys`: null for connections without encryption.
Result<double> remote_cpu(const Work& work, const std::string& program, const CurveKeys* keys) {
  std::vector<std::string> ingest = {program,  "ingest",
                                     work.job, "--json",
                                     "--set",  "cluster.listen=tcp://127.0.0.1:0",
                                     "--set",  "cluster.local=false"};
  if (keys != nullptr) ingest.insert(ingest.end(), {"--set", "cluster.keys=" + keys->folder});
  auto trainer = MeasuredProgram::start(ingest, work.folder + "/trainer.out");
  if (!trainer) return pass(trainer);
  auto address = await_address(work, *trainer);
  if (!address) return pass(address);
  std::vector<std::string> join = {program,  "worker", "--join",   *address,
                                   "--name", "bench",  "--memory", "1GiB"};
  if (keys != nullptr) join.insert(join.end(), {"--keys", keys->folder});
  auto worker = MeasuredProgram::start(join, work.folder + "/worker.out");
  if (!worker) return pass(worker);
  auto at_trainer = trainer->cpu_seconds();
  if (!at_trainer) return at_trainer;
  auto at_worker = worker->cpu_seconds();
  if (!at_worker) return at_worker;
  return *at_trainer + *at_worker;
}

/// Measures two processes that move as many messages of the same size with ZeroMQ alone.
Result<double> raw_cpu(const Work& work, const CurveKeys* keys) {
  const WireWork batches{.kind = WireWork::Kind::kBatches,
                         .messages = work.splits,
                         .frames = 1,
                         .frame_bytes = work.bytes / work.splits};
  auto other = BenchProcess::start([&](const BenchProcess::Lines& lines) {
    const double before = own_cpu_seconds();
    serve_raw(batches, keys, lines);
    lines.write(std::to_string(own_cpu_seconds() - before));
  });
  if (!other) return pass(other);
  const double before = own_cpu_seconds();
  time_raw(batches, keys, other->lines());
  const double ours = own_cpu_seconds() - before;
  auto theirs = other->lines().read_number();
  if (!theirs) return theirs;
  return ours + *theirs;
}

}  // namespace

BenchResults bench_remote(const BenchOptions& options) {
  constexpr std::uint64_t kRows = 500'000;  // which are read again in each epoch
  auto data = made_up_rows(kRows);
  if (!data) return pass(data);
  auto work = pack_all(*data);
  if (!work) return pass(work);
  const std::string place = work->folder + "/keys";
  if (Status made = CurveKeys::create(place); !made) return pass(made);
  auto keys = CurveKeys::read(place);
  if (!keys) return pass(keys);
  // Makes the worker's own index before the measurement.
  if (auto first = remote_cpu(*work, options.program, nullptr); !first) return pass(first);
  Measurements all;
  const auto measure = [&](const std::string& name, double local, const CurveKeys* with) -> Status {
    auto remote = remote_cpu(*work, options.program, with);
    if (!remote) return pass(remote);
    all.add(name, *remote - local);
    return all.add(name + "_raw", raw_cpu(*work, with));
  };
  const std::string plain = "remote_cpu_per_row";
  const std::string curve = "remote_cpu_per_row_curve";
  auto measured = each_round(options.rounds, [&]() -> Status {
    auto local = local_cpu(*work, options.program);
    if (!local) return pass(local);
    if (auto status = measure(plain, *local, nullptr); !status) return status;
    return measure(curve, *local, &*keys);
  });
  if (!measured) return pass(measured);
  const auto rows = static_cast<double>(work->rows);
  const double bytes = static_cast<double>(work->bytes) / rows;
  const auto result = [&](const std::string& name) {
    return BenchResult::over(name, all[name] / rows * 1e9, "ns", all[name + "_raw"] / rows * 1e9);
  };
  return std::vector<BenchResult>{BenchResult::over("bytes_per_row", bytes, "B", work->wide_row),
                                  result(plain), result(curve)};
}

}  // namespace forebay
