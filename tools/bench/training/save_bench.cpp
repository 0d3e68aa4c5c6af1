#include "tools/bench/training/save_bench.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/base/median.h"
#include "core/base/open_files.h"
#include "core/base/seconds.h"
#include "tools/bench/training/bench_model.h"
#include "trainer/module.h"
#include "trainer/saving/block_file.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/saver.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSavedBatches = 16;  // made before the measurement
constexpr std::size_t kPlainBlock = std::size_t{4} << 20;

Result<std::unique_ptr<Model>> make_measured_model(const SaveBenchOptions& options) {
  TrainerSpec spec = bench_model(options.table_rows, /*small_network=*/true);
  spec.threads = options.threads;
  auto shape = shape_of(spec, schema_of(ZipfBatches::Options()));
  if (!shape) return pass(shape);
  return make_model(spec, *shape);
}

/// Writes or reads at least `bytes` from the beginning of a file, block by block past the page
/// cache, and syncs it.
Status move_plainly(const std::string& path, std::uint64_t bytes, int flags) {
  const auto refuse = [&] { return fail(Code::kUnavailable, path + ": " + std::strerror(errno)); };
  const int descriptor = ::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC, 0644);
  if (descriptor < 0) return refuse();
  const std::unique_ptr<void, decltype(&std::free)> block(
      std::aligned_alloc(kDirectPage, kPlainBlock), &std::free);
  std::memset(block.get(), 1, kPlainBlock);
  ssize_t moved = 1;
  for (std::uint64_t at = 0; at < bytes && moved > 0; at += static_cast<std::uint64_t>(moved)) {
    const auto place = static_cast<off_t>(at);
    moved = flags == O_RDONLY ? ::pread(descriptor, block.get(), kPlainBlock, place)
                              : ::pwrite(descriptor, block.get(), kPlainBlock, place);
  }
  const bool synced = moved > 0 && ::fsync(descriptor) == 0;
  ::close(descriptor);
  return synced ? Status() : Status(refuse());
}

/// Figures of all rounds.
struct Rounds {
  std::vector<double> write, plain_write, read, plain_read, with, without;
};

/// Owns the model and everything else that is measured.
class SaveBench {
 public:
  SaveBench(const SaveBenchOptions& options, const Clock& clock, std::string folder)
      : options_(options), clock_(clock), folder_(std::move(folder)) {}
  ~SaveBench() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  Status prepare() {
    auto store = CheckpointStore::open(folder_, 1);
    if (!store) return pass(store);
    store_ = std::make_unique<CheckpointStore>(std::move(*store));
    auto model = make_measured_model(options_);
    if (!model) return pass(model);
    model_ = std::move(*model);
    const ZipfBatches batches({.rows = options_.batch_rows, .table_rows = std::int64_t{1} << 18});
    for (std::uint64_t i = 0; i < kSavedBatches; ++i) batches_.push_back(batches.make(i));
    auto warmed = steps(kSavedBatches);
    return warmed ? Status() : Status(pass(warmed));
  }

  Status round(Rounds& all) {
    for (const bool saves : {false, true}) {
      auto took = saves ? steps_with_a_checkpoint() : steps(options_.steps);
      if (!took) return pass(took);
      (saves ? all.with : all.without).push_back(*took);
    }
    auto bytes = write_once(all.write);
    if (!bytes) return pass(bytes);
    if (auto plain = plain_disk(*bytes, all); !plain) return plain;
    return read_once(*bytes, all.read);
  }

 private:
  double since(std::chrono::nanoseconds began) const { return in_seconds(clock_.now() - began); }

  Result<double> steps(std::uint64_t count) {
    const auto began = clock_.now();
    for (std::uint64_t step = 0; step < count; ++step) {
      auto loss = model_->step(*batches_[step % kSavedBatches]);
      if (!loss) return pass(loss);
    }
    return since(began);
  }

  TrainState next_state() {
    TrainState state;
    state.loader.position.batches = ++saved_;
    return state;
  }

  Result<double> steps_with_a_checkpoint() {
    Saver saver(*store_, clock_, {});
    const auto began = clock_.now();
    auto begun = saver.save(*model_, next_state());
    if (!begun) return pass(begun);
    if (auto trained = steps(options_.steps); !trained) return trained;
    const auto ended = saver.fail_after(saved_);
    if (!ended.written) return tl::unexpected<Error>(ended.written.error());
    return since(began);
  }

  /// Writes one checkpoint while nothing else runs; returns its bytes.
  Result<std::uint64_t> write_once(std::vector<double>& rates) {
    const auto began = clock_.now();
    auto source = model_->snapshot();
    if (!source) return pass(source);
    std::uint64_t bytes = 0;
    for (const StateTensor& tensor : (*source)->tensors()) bytes += tensor.bytes();
    auto path = store_->save(**source, next_state());
    if (!path) return pass(path);
    rates.push_back(static_cast<double>(bytes) / since(began));
    if (auto swept = store_->sweep(); !swept) return pass(swept);
    return bytes;
  }

  /// Writes and reads as many bytes with plain disk operations.
  Status plain_disk(std::uint64_t bytes, Rounds& all) {
    const std::string path = folder_ + "/plain";
    auto began = clock_.now();
    auto moved = move_plainly(path, bytes, O_WRONLY | O_CREAT | O_TRUNC);
    if (!moved) return moved;
    all.plain_write.push_back(static_cast<double>(bytes) / since(began));
    began = clock_.now();
    moved = move_plainly(path, bytes, O_RDONLY);
    all.plain_read.push_back(static_cast<double>(bytes) / since(began));
    std::error_code ignored;
    fs::remove(path, ignored);
    return moved;
  }

  Status read_once(std::uint64_t bytes, std::vector<double>& rates) {
    const auto began = clock_.now();
    auto found = store_->restore_last(*model_, [](const Checkpoint&) { return Status(); });
    if (!found) return pass(found);
    rates.push_back(static_cast<double>(bytes) / since(began));
    return {};
  }

  const SaveBenchOptions& options_;
  const Clock& clock_;
  const std::string folder_;
  std::vector<std::shared_ptr<const Batch>> batches_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<CheckpointStore> store_;
  std::uint64_t saved_ = 0;
};

}  // namespace

Result<std::vector<BenchResult>> bench_saving(const SaveBenchOptions& options, const Clock& clock) {
  const std::string folder = (fs::path(options.folder) / ".forebay-bench-checkpoints").string();
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  SaveBench bench(options, clock, folder);
  if (auto ready = bench.prepare(); !ready) return pass(ready);
  Rounds all;
  for (int round = 0; round < options.rounds && !options.stopped(); ++round) {
    if (auto done = bench.round(all); !done) return pass(done);
  }
  if (all.read.empty()) return std::vector<BenchResult>();
  const double write = median(all.write), plain_write = median(all.plain_write);
  const double read = median(all.read), plain_read = median(all.plain_read);
  const double with = median(all.with), without = median(all.without);
  return std::vector<BenchResult>{
      {"checkpoint_write", write, "bytes/s", plain_write, write / plain_write},
      {"checkpoint_read", read, "bytes/s", plain_read, read / plain_read},
      {"checkpoint_overhead", with, "s", without, with / without}};
}

}  // namespace forebay
