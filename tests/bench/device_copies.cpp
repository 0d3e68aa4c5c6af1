// Copies to a GPU as a training makes them, against plain copies of the same bytes out of
// page-locked memory: batches of Criteo's columns laid out in one block each
// (trainer/torch/device/transfer.h), 16,384 to 65,536 rows. The argument is the device ("cuda" if
// missing). Prints one JSON object: GB/s, medians of interleaved rounds, and their ratios.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ops/empty.h>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "trainer/embedding/batch_rows.h"
#include "trainer/torch/device/transfer.h"
#include "trainer/torch/libtorch.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

constexpr int kRounds = 9;
constexpr int kCopies = 40;          ///< Of a round.
constexpr std::size_t kShares = 16;  ///< Of a batch.

/// A batch in page-locked memory, and its memory on the device.
struct OnItsWay {
  at::Tensor host, device;
};

OnItsWay lay_out(DeviceLanes& lanes, std::size_t rows) {
  const ZipfBatches::Options options{.rows = rows};
  const auto batch = ZipfBatches(options).make(0);
  RowFinder finder(std::vector<std::int64_t>(options.features, options.table_rows));
  BatchRows found;
  if (auto status = finder.find(*batch, rows / kShares, found); !status) return {};
  const StagedExtents extents = extents_of(*batch, found);
  const std::int64_t bytes = staged_bytes(extents);
  OnItsWay made{lanes.host_memory(bytes),
                at::empty({bytes}, at::TensorOptions(at::kByte).device(lanes.device()))};
  for (std::size_t part = 0; part < staged_parts(*batch); ++part) {
    write_staged(*batch, found, staged_in(made.host, extents), part);
  }
  lanes.mark(DeviceLane::kCompute)->wait();
  return made;
}

template <class Copy>
double gigabytes_per_second(const OnItsWay& batch, DeviceLanes& lanes, DeviceLane lane, Copy copy) {
  const SystemClock clock;
  const auto began = clock.now();
  for (int i = 0; i < kCopies; ++i) copy();
  lanes.mark(lane)->wait();
  return kCopies * static_cast<double>(batch.host.numel()) / in_seconds(clock.now() - began) / 1e9;
}

/// As DeviceTables does: in the lane of copies, with a mark behind each that the computation waits
/// for.
double through_the_lane(const OnItsWay& batch, DeviceLanes& lanes) {
  return gigabytes_per_second(batch, lanes, DeviceLane::kIn, [&] {
    lanes.run(DeviceLane::kIn, [&] { batch.device.copy_(batch.host, /*non_blocking=*/true); });
    lanes.mark(DeviceLane::kIn)->block(DeviceLane::kCompute);
  });
}

double plainly(const OnItsWay& batch, DeviceLanes& lanes) {
  return gigabytes_per_second(batch, lanes, DeviceLane::kCompute,
                              [&] { batch.device.copy_(batch.host, /*non_blocking=*/true); });
}

void print(DeviceLanes& lanes, std::size_t rows, const char* separator) {
  const OnItsWay batch = lay_out(lanes, rows);
  std::vector<double> lane, plain, ratio;
  through_the_lane(batch, lanes);
  plainly(batch, lanes);
  for (int round = 0; round < kRounds; ++round) {
    lane.push_back(through_the_lane(batch, lanes));
    plain.push_back(plainly(batch, lanes));
    ratio.push_back(lane.back() / plain.back());
  }
  std::printf("%s\"%zu\": {\"megabytes\": %.2f, \"lane\": %.2f, \"pinned\": %.2f, \"ratio\": %.3f}",
              separator, rows, static_cast<double>(batch.host.numel()) / 1e6, median(lane),
              median(plain), median(ratio));
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  using namespace forebay;
  const auto lanes = make_lanes(at::Device(argc > 1 ? argv[1] : "cuda"));
  const char* separator = "{";
  for (const std::size_t rows : {16'384, 32'768, 65'536}) {
    print(*lanes, rows, separator);
    separator = ", ";
  }
  std::printf("}\n");
}
