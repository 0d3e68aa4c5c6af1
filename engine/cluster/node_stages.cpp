#include "engine/cluster/node_stages.h"

#include <algorithm>
#include <utility>

#include "actors/split_issuer.h"
#include "actors/split_queue.h"
#include "actors/stage/split_frames.h"
#include "core/base/seconds.h"

namespace forebay {
namespace {

/// Seconds that a split's dozen messages may take; each of them may wait for a CPU.
constexpr double kTravelSeconds = 0.03;
/// Fewest and most splits that are sent while the stages work on others.
constexpr double kFewestOnTheWay = 2;
constexpr double kMostOnTheWay = 32;
constexpr std::chrono::milliseconds kRatePeriod(200);

}  // namespace

NodeStages::NodeStages(Options options)
    : options_(std::move(options)),
      order_(options_.run.dataset(), options_.run.order()),
      sizing_(options_.run.dataset(), options_.run.plan(), options_.run.order()),
      bounds_(id_bounds(options_.run.schema())),
      budget_(options_.room),
      buffers_(budget_),
      stages_({.dataset = options_.run.dataset(),
               .plan = options_.run.plan(),
               .decode = options_.run.decode(),
               .seed = options_.run.order().seed,
               .rows = order_.permutes_rows() ? ShuffleWorker::Rows::kPermuted
                                              : ShuffleWorker::Rows::kAsTheyStand,
               .mailbox_bytes = sizing_.sizes().usual_split,
               .buffers = buffers_,
               .clock = options_.run.clock(),
               .sink = *this,
               .on_failure = options_.failed}) {
  for (const Stage stage : {Stage::kTransform, Stage::kShuffle, Stage::kDecode, Stage::kLoad}) {
    wanted_[static_cast<std::size_t>(stage)] = 1;
    stages_.resize(stage, 1);
  }
}

NodeStages::~NodeStages() { stages_.cancel(); }

void NodeStages::make(std::uint64_t number) {
  begun_.fetch_add(1, std::memory_order_relaxed);
  stages_.make(load_task(split_id(number, order_), order_, sizing_));
}

Status NodeStages::put(ColumnSplit&& split, PoolContext&) {
  split.times.sent = options_.run.clock().now();
  const PackOptions pack{.bounds = bounds_, .compression = compression_};
  Frames frames = pack_split(split, pack, buffers_);
  plain_.fetch_add(split.columns.bytes(), std::memory_order_relaxed);
  packed_.fetch_add(bytes_of(frames), std::memory_order_relaxed);
  if (pack.compression == Compression::kNone) keep_sample(frames);
  split.columns = {};
  done_.fetch_add(1, std::memory_order_relaxed);
  options_.done(split.id.number, std::move(frames));
  return {};
}

// The first split's data is enough: all splits of a job are alike.
void NodeStages::keep_sample(const Frames& frames) {
  constexpr std::size_t kMost = 256 << 10;
  const Frame& data = frames.back();
  serial_([&] {
    if (!sample_.empty()) return;
    sample_.assign(data.data(), data.data() + std::min(data.size(), kMost));
  });
}

std::vector<std::byte> NodeStages::sample() const {
  return serial_([this]() -> std::vector<std::byte> { return sample_; });
}

// As many splits as are made in the time that messages take, so that a slow node hoards no splits.
std::uint64_t NodeStages::on_the_way() const {
  const auto now = options_.run.clock().now();
  const std::uint64_t done = splits_done();
  return serial_([&] {
    if (now - rate_.at >= kRatePeriod) {
      const double seconds = in_seconds(now - rate_.at);
      rate_ = {now, done, static_cast<double>(done - rate_.done) / seconds};
    }
    return static_cast<std::uint64_t>(
        std::clamp(rate_.splits_per_second * kTravelSeconds, kFewestOnTheWay, kMostOnTheWay));
  });
}

std::uint64_t NodeStages::wanted_actors() const {
  std::uint64_t all = 0;
  for (const auto& one : wanted_) all += one;
  return all;
}

Status NodeStages::resize(Stage stage, std::uint32_t actors) {
  if (actors < 1) return fail(Code::kInvalid, "a stage has at least one actor");
  auto& wanted = wanted_[static_cast<std::size_t>(stage)];
  const std::uint64_t more = actors > wanted ? actors - wanted : 0;
  const std::uint64_t threads = std::max(stages_.threads(), wanted_actors()) + more;
  if (more > 0 && threads_bytes(threads) + 2 * sizing_.sizes().largest_split > options_.room) {
    return fail(Code::kOverloaded, "no memory for another actor's thread");
  }
  wanted = actors;
  stages_.resize(stage, actors);
  return {};
}

std::vector<std::uint32_t> NodeStages::actors() const { return {wanted_.begin(), wanted_.end()}; }

void NodeStages::set_waiting(std::uint32_t splits) { waiting_ = std::max(splits, 1U); }

// While a split is packed, two copies of it exist.
std::size_t NodeStages::slots() const {
  const std::uint64_t largest = sizing_.sizes().largest_split;
  const std::uint64_t packers = wanted_[static_cast<std::size_t>(Stage::kTransform)];
  const std::uint64_t taken =
      threads_bytes(std::max(wanted_actors(), stages_.threads())) + packers * largest;
  const std::uint64_t fit = (options_.room > taken ? options_.room - taken : 0) / largest;
  return std::clamp<std::uint64_t>(fit, 1, wanted_actors() + kNumStages + on_the_way() + waiting_);
}

std::uint64_t NodeStages::least_room_of(JobRun& run) {
  const Sizing sizing(run.dataset(), run.plan(), run.order());
  return threads_bytes(kNumStages) + 2 * sizing.sizes().largest_split;
}

}  // namespace forebay
