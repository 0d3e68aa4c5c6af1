#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "core/base/open_files.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"
#include "trainer/module.h"
#include "trainer/saving/block_file.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/saver.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "./.forebay-bench-checkpoints";  // on the measured disk
constexpr std::uint64_t kStepsBetween = 100;                     // two checkpoints
constexpr std::int64_t kSavedTableRows = 161320;  // of each of 26 tables: 1 GiB with Adagrad
constexpr std::size_t kSavedBatches = 16;         // made before the measurement
constexpr std::size_t kPlainBlock = std::size_t{4} << 20;

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

/// Owns the model and everything else that is measured.
class SaveBench {
 public:
  ~SaveBench() { remove_bench_checkpoints(); }

  Status prepare() {
    remove_bench_checkpoints();
    auto store = CheckpointStore::open(kFolder, 1);
    if (!store) return pass(store);
    store_ = std::make_unique<CheckpointStore>(std::move(*store));
    const TrainerSpec spec = bench_model(kSavedTableRows, /*small_network=*/true);
    auto shape = shape_of(spec, schema_of(ZipfBatches::Options()));
    if (!shape) return pass(shape);
    auto model = make_model(spec, *shape);
    if (!model) return pass(model);
    model_ = std::move(*model);
    const ZipfBatches batches({.rows = 8192, .table_rows = std::int64_t{1} << 18});
    for (std::uint64_t i = 0; i < kSavedBatches; ++i) batches_.push_back(batches.make(i));
    auto warmed = steps(kSavedBatches);
    return warmed ? Status() : Status(pass(warmed));
  }

  Status round(Measurements& all) {
    if (auto added = all.add("without", steps(kStepsBetween)); !added) return added;
    if (auto added = all.add("with", steps_with_a_checkpoint()); !added) return added;
    auto bytes = write_once(all);
    if (!bytes) return pass(bytes);
    if (auto plain = plain_disk(*bytes, all); !plain) return plain;
    return read_once(*bytes, all);
  }

 private:
  Result<double> steps(std::uint64_t count) {
    const Stopwatch watch;
    for (std::uint64_t step = 0; step < count; ++step) {
      auto loss = model_->step(*batches_[step % kSavedBatches]);
      if (!loss) return pass(loss);
    }
    return watch.seconds();
  }

  TrainState next_state() {
    TrainState state;
    state.loader.position.batches = ++saved_;
    return state;
  }

  Result<double> steps_with_a_checkpoint() {
    Saver saver(*store_, clock_, {});
    const Stopwatch watch;
    saver.save(*model_, next_state());
    if (auto trained = steps(kStepsBetween); !trained) return trained;
    const auto ended = saver.fail_after(saved_);
    if (!ended.written) return tl::unexpected<Error>(ended.written.error());
    return watch.seconds();
  }

  /// Writes one checkpoint while nothing else runs; returns its bytes.
  Result<std::uint64_t> write_once(Measurements& all) {
    const Stopwatch watch;
    auto source = model_->snapshot();
    if (!source) return pass(source);
    std::uint64_t bytes = 0;
    for (const StateTensor& tensor : (*source)->tensors()) bytes += tensor.bytes();
    auto path = store_->save(**source, next_state());
    if (!path) return pass(path);
    all.add("write", static_cast<double>(bytes) / watch.seconds());
    if (auto swept = store_->sweep(); !swept) return pass(swept);
    return bytes;
  }

  /// Writes and reads as many bytes with plain disk operations.
  Status plain_disk(std::uint64_t bytes, Measurements& all) {
    const std::string path = std::string(kFolder) + "/plain";
    const Stopwatch writing;
    auto moved = move_plainly(path, bytes, O_WRONLY | O_CREAT | O_TRUNC);
    if (!moved) return moved;
    all.add("plain_write", static_cast<double>(bytes) / writing.seconds());
    const Stopwatch reading;
    moved = move_plainly(path, bytes, O_RDONLY);
    all.add("plain_read", static_cast<double>(bytes) / reading.seconds());
    std::error_code ignored;
    fs::remove(path, ignored);
    return moved;
  }

  Status read_once(std::uint64_t bytes, Measurements& all) {
    const Stopwatch watch;
    auto found = store_->restore_last(*model_, [](const Checkpoint&) { return Status(); });
    if (!found) return pass(found);
    all.add("read", static_cast<double>(bytes) / watch.seconds());
    return {};
  }

  const SystemClock clock_{};
  std::vector<std::shared_ptr<const Batch>> batches_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<CheckpointStore> store_;
  std::uint64_t saved_ = 0;
};

}  // namespace

void remove_bench_checkpoints() {
  std::error_code ignored;
  fs::remove_all(kFolder, ignored);
}

BenchResults bench_checkpoint(const BenchOptions& options) {
  SaveBench bench;
  if (auto ready = bench.prepare(); !ready) return pass(ready);
  Measurements all;
  auto measured = each_round(options.rounds, [&] { return bench.round(all); });
  if (!measured) return pass(measured);
  return std::vector<BenchResult>{
      BenchResult::over("checkpoint_write", all["write"], "bytes/s", all["plain_write"]),
      BenchResult::over("checkpoint_read", all["read"], "bytes/s", all["plain_read"]),
      BenchResult::over("checkpoint_overhead", all["with"], "s", all["without"])};
}

}  // namespace forebay
