// What the host does for each batch of a GPU's training, measured without a GPU: finding the
// batch's rows, giving them slots and laying the batch out, and writing changed rows home. Batches
// of the usual work (made-up Criteo rows).
// usage: device_preparation [ROWS OF A BATCH [THREADS…]]    65536 and 1 if missing
// Prints one JSON object a line for each number of threads: microseconds a batch, medians.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "tools/bench/bench_setup.h"
#include "tools/bench/usual_work.h"
#include "trainer/device_memory.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/spec.h"
#include "trainer/state/copy_before_change.h"
#include "trainer/torch/device/device_tables.h"

namespace forebay {
namespace {

using Batches = std::vector<std::shared_ptr<const Batch>>;

constexpr std::uint64_t kFileRows = 2'000'000;
constexpr std::uint64_t kBatches = 24;  // Too many for the caches of the CPU.
constexpr int kRounds = 4;
constexpr std::uint64_t kSettle = kBatches / 2;

struct Times {
  std::vector<double> find, prepare, home;
};

Result<Times> measure(const Batches& batches, const TrainerSpec& spec, const ModelShape& shape,
                      std::size_t threads) {
  CopyRoom room(copy_slot_bytes(shape), copy_room_bytes(shape));
  auto host = make_tables(spec, shape, room);
  if (!host) return pass(host);
  const auto lanes = make_lanes(at::Device(at::kCPU));
  ThreadTeam team(threads);
  DeviceTables tables(std::move(*host), layout_of(spec, shape), device_rows(spec, shape), *lanes,
                      team);
  RowFinder finder(tables.folds(), &team);
  const SystemClock clock;
  BatchRows rows;
  Times times;
  for (std::uint64_t turn = 1; turn <= kRounds * batches.size(); ++turn) {
    const Batch& batch = *batches[turn % batches.size()];
    auto time = [&, began = clock.now()]() mutable {
      const auto before = std::exchange(began, clock.now());
      return in_seconds(began - before) * 1e6;
    };
    if (auto found = finder.find(batch, batch.rows / kModelShares, rows); !found)
      return pass(found);
    const double find = time();
    if (auto prepared = tables.prepare(rows, turn); !prepared) return pass(prepared);
    const double prepare = time();
    tables.on_device(rows);
    tables.changed(rows);
    lanes->mark(DeviceLane::kOut)->wait();
    time();
    tables.finish(turn);
    const double home = time();
    if (turn <= kSettle) continue;
    times.find.push_back(find);
    times.prepare.push_back(prepare);
    times.home.push_back(home);
  }
  return times;
}

/// Returns the first batches of the usual work.
Result<Batches> make_batches(UsualRun& run) {
  auto pipeline = start_pipeline(run);
  if (!pipeline) return pass(pipeline);
  Batches batches;
  while (batches.size() < kBatches) {
    auto batch = (*pipeline)->next();
    if (!batch) return pass(batch);
    batches.push_back(std::move(*batch));
  }
  return batches;
}

Status run(std::size_t rows, const std::vector<std::size_t>& threads) {
  auto work = usual_batches(kFileRows, rows, kBatches);
  if (!work) return pass(work);
  UsualRun usual(*work);
  auto batches = make_batches(usual);
  if (!batches) return pass(batches);
  const TrainerSpec spec;
  auto shape = shape_of(spec, work->plan.output());
  if (!shape) return pass(shape);
  for (const std::size_t each : threads) {
    auto times = measure(*batches, spec, *shape, each);
    if (!times) return pass(times);
    std::printf(
        "{\"rows\": %zu, \"threads\": %zu, \"find\": %.0f, \"prepare\": %.0f, "
        "\"home\": %.0f}\n",
        rows, each, median(times->find), median(times->prepare), median(times->home));
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 65536;
  std::vector<std::size_t> threads;
  for (int i = 2; i < argc; ++i) threads.push_back(std::strtoul(argv[i], nullptr, 10));
  if (threads.empty()) threads.push_back(1);
  const auto measured = forebay::run(rows, threads);
  if (!measured) std::fprintf(stderr, "device_preparation: %s\n", measured.error().message.c_str());
  return measured ? 0 : 1;
}
