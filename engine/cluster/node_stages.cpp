#include "engine/cluster/node_stages.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "actors/split_issuer.h"
#include "actors/stage/split_frames.h"
#include "core/base/clock.h"

namespace forebay {
namespace {

/// Seconds that a split's dozen messages may take; each of them may wait for a CPU.
constexpr double kTravelSeconds = 0.03;
/// Fewest and most splits that are sent while the stages work on others.
constexpr double kFewestOnTheWay = 2;
constexpr double kMostOnTheWay = 32;
constexpr std::chrono::milliseconds kRatePeriod(200);

/// Memory of a split that the node holds. One that is made in parts has its pieces, and beside them
/// the parts that are packed and wait for the others.
std::uint64_t bytes_of_split(const MemorySizes& sizes) {
  return sizes.held > 0 ? 2 * sizes.held : sizes.largest_split;
}

/// Memory of so many actors' threads, of one actor's child processes in each stage, of a split, and
/// of a copy of what is packed.
std::uint64_t least_room(std::uint64_t threads, const Sizing& sizing) {
  const MemorySizes& sizes = sizing.sizes();
  return threads_bytes(threads) + least_children(sizes) + bytes_of_split(sizes) +
         sizes.largest_split;
}

}  // namespace

NodeStages::NodeStages(Options options)
    : options_(std::move(options)),
      order_(options_.run.dataset(), options_.run.order()),
      sizing_(options_.run.dataset(), options_.run.plan(), options_.run.order()),
      bounds_(id_bounds(options_.run.schema())),
      memory_(std::make_shared<Memory>(options_.room)),
      stages_({.inputs = {.dataset = options_.run.dataset(),
                          .plan = options_.run.plan(),
                          .decode = options_.run.decode(),
                          .seed = options_.run.order().seed,
                          .permutes_rows = order_.permutes_rows(),
                          .buffers = memory_->pool},
               .actors = options_.run.first_actors(),
               .mailbox_bytes = sizing_.sizes().usual_split,
               .cpus = options_.cpus,
               .clock = options_.run.clock(),
               .owner = *this,
               .groups = options_.run.groups()}) {
  resized();
  stages_.start();
}

NodeStages::~NodeStages() { stop(); }

// With a limit of 0 the pool keeps no buffer that is returned.
void NodeStages::stop() {
  stages_.cancel();
  memory_->budget.set_limit(0);
  memory_->pool.trim();
}

// A lease that ended leaves its split in the stages, and a later lease may be for the same split.
void NodeStages::make(std::uint64_t number) {
  if (!serial_([&] { return in_progress_.insert(number).second; })) return;
  begun_.fetch_add(1, std::memory_order_relaxed);
  stages_.make(split_to_make(split_id(number, order_), order_, sizing_));
}

Status NodeStages::put(Split&& split, PoolContext&) {
  split.times.sent = options_.run.clock().now();
  const Compression compression = compression_;
  Frames frames = pack(split, compression);
  plain_.fetch_add(split.columns.bytes(), std::memory_order_relaxed);
  packed_.fetch_add(bytes_of(frames), std::memory_order_relaxed);
  if (compression == Compression::kNone) keep_sample(frames);
  split.columns = {};
  parts_done_.fetch_add(1, std::memory_order_relaxed);
  stages_.returned(split.id);
  deliver(split, std::move(frames));
  return {};
}

// A frame may wait for a slow or frozen trainer until long after the job has ended here.
Frames NodeStages::pack(const Split& split, Compression compression) const {
  struct Keeper {
    std::shared_ptr<Memory> memory;
    std::shared_ptr<const void> buffer;  // destroyed before the memory that it returns to
  };
  const PackOptions options{
      .bounds = bounds_, .repeated = options_.run.schema().repeated, .compression = compression};
  Frames frames = pack_split(split, options, memory_->pool);
  for (Frame& frame : frames) {
    frame = Frame(std::make_shared<const Keeper>(Keeper{memory_, frame.keeper()}), frame.data(),
                  frame.size());
  }
  return frames;
}

void NodeStages::deliver(const Split& split, Frames frames) {
  if (split.parts > 1) {
    std::optional<Frames> all = join(split, std::move(frames));
    if (!all) return;
    frames = std::move(*all);
  }
  serial_([&] { in_progress_.erase(split.id.number); });
  done_.fetch_add(1, std::memory_order_relaxed);
  options_.done(split.id.number, std::move(frames));
}

// Returns the frames of all parts, in order, with the last part that was missing.
std::optional<Frames> NodeStages::join(const Split& part, Frames frames) {
  PackedParts whole;
  const bool is_last = serial_([&] {
    PackedParts& packed = packed_parts_[part.id.number];
    if (packed.parts.empty()) packed = {std::vector<Frames>(part.parts), part.parts};
    packed.parts[part.part] = std::move(frames);
    if (--packed.missing > 0) return false;
    whole = std::move(packed_parts_.extract(part.id.number).mapped());
    return true;
  });
  if (!is_last) return std::nullopt;
  Frames all;
  for (Frames& each : whole.parts) std::ranges::move(each, std::back_inserter(all));
  return all;
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

bool NodeStages::has_room_for(std::uint64_t threads, std::uint64_t children) const {
  return least_room(threads, sizing_) - least_children(sizing_.sizes()) + children <= options_.room;
}

std::uint64_t NodeStages::held_split_bytes() const { return bytes_of_split(sizing_.sizes()); }

// A split that is made in parts keeps many actors busy.
void NodeStages::watch() {
  stages_.fit_queues();
  constexpr double kNew = 0.2;  // weight of a sample
  const std::uint64_t enough = std::min<std::uint64_t>(stages_.actors_wanted(), slots() / 2);
  const double now = fed_ && in_work() >= enough ? 1 : 0;
  busy_ = busy_ + kNew * (now - busy_);
}

void NodeStages::set_waiting(std::uint32_t splits) { waiting_ = std::max(splits, 1U); }

// While a split is packed, by an actor of the last stage, two copies of it exist.
std::size_t NodeStages::slots() const {
  if (!fed_) return 0;
  const MemorySizes& sizes = sizing_.sizes();
  const std::uint64_t actors = stages_.actors_wanted();
  const std::uint64_t packers = stages_.actors().back();
  const std::uint64_t taken = threads_bytes(std::max(actors, stages_.threads())) +
                              stages_.children_bytes() + packers * sizes.largest_split +
                              stages_.part_budget().limit();
  const std::uint64_t room = options_.room > taken ? options_.room - taken : 0;
  // Of splits that are made in parts the stages work on a few, however many actors they have.
  const std::uint64_t in_work =
      sizes.held > 0 ? sizes.splits_held : actors + stages_.size() + on_the_way();
  return std::clamp<std::uint64_t>(room / bytes_of_split(sizes), 1, in_work + waiting_);
}

// The parts that keep the actors busy, if there is room for them beside one split.
void NodeStages::resized() {
  const MemorySizes& sizes = sizing_.sizes();
  if (sizes.held == 0) return;
  const std::uint64_t least =
      least_room(stages_.threads(), sizing_) - least_children(sizes) + stages_.children_bytes();
  stages_.part_budget().set_limit(
      std::min(window_for(stages_.actors_wanted(), stages_.size(), sizes),
               options_.room > least ? options_.room - least : 0));
}

std::uint64_t NodeStages::least_room_of(const JobRun& run) {
  return least_room(run.plan().stages().size(), Sizing(run.dataset(), run.plan(), run.order()));
}

}  // namespace forebay
