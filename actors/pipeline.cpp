#include "actors/pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "actors/batcher.h"
#include "actors/expected_splits.h"
#include "actors/split_issuer.h"
#include "actors/split_queue.h"
#include "core/base/check.h"
#include "core/data/memory_budget.h"
#include "core/runtime/actor_pool.h"
#include "core/runtime/byte_queue.h"
#include "core/runtime/serial.h"

namespace forebay {
namespace {

/// A mailbox that the window bounds already.
constexpr std::size_t kUnbounded = ~std::size_t{0} / 2;

}  // namespace

struct Pipeline::Parts final : SplitSink, IssuedSplits {
  explicit Parts(Options given);

  class BatchWorker;

  ActorPool<ColumnSplit>::Options batch_options();
  StagePools::Options stage_options();
  void issue(LoadTask task) override;
  Status put(ColumnSplit&& split, PoolContext& context) override;
  void fail(const Error& error) { batches.fail(error); }
  void settle();
  void divide_room();
  std::uint64_t threads() const;
  std::uint64_t actors_wanted() const;

  Options options;
  EpochOrder order;
  Sizing sizing;
  MemoryBudget window;
  ByteQueue<std::shared_ptr<const Batch>> batches;
  SplitIssuer issuer;
  std::array<std::atomic<int>, kNumStages> wanted;  // actors, by Stage
  Serial settlements;
  std::atomic<std::uint64_t> room;
  std::atomic<std::uint64_t> prefetch;  // wanted
  std::atomic<std::uint64_t> elsewhere{0};
  ExpectedSplits expected;  // with a dispatch
  SplitHistory history;
  std::atomic<std::uint64_t> lowest_missing{0};
  std::atomic<bool> ended{false};
  Position end;  // written before `ended` is set

  // The stages offer to the batch pool, so they go before it.
  ActorPool<ColumnSplit> batch;
  StagePools stages;
};

/// The one actor of the batch stage.
class Pipeline::Parts::BatchWorker final : public PoolWorker<ColumnSplit>, BatchSink {
 public:
  explicit BatchWorker(Parts& parts)
      : parts_(parts),
        batcher_(parts.options.order, parts.order.num_splits(), parts.options.start,
                 parts.options.buffers, *this) {}

  Status on(ColumnSplit&& split, PoolContext& context) override {
    context_ = &context;
    PastSplit past{.number = split.id.number,
                   .node = split.node,
                   .rows = split.columns.rows,
                   .times = split.times,
                   .batch = {.begin = parts_.options.clock.now()}};
    auto status = batcher_.add(std::move(split));
    past.batch.end = parts_.options.clock.now();
    parts_.history.add(std::move(past));
    parts_.lowest_missing.store(batcher_.lowest_missing(), std::memory_order_relaxed);
    if (status && batcher_.finished()) {
      parts_.end = batcher_.position();
      parts_.ended.store(true, std::memory_order_release);
      parts_.batches.close();
    }
    return status;
  }

 private:
  bool emit(std::shared_ptr<const Batch> batch) override {
    const PoolContext::OutputWait waiting(*context_);
    const std::size_t bytes = batch->bytes();
    if (parts_.options.on_batch) parts_.options.on_batch(batch);
    return parts_.batches.put(std::move(batch), bytes);
  }

  void consumed(const SplitId& id) override {
    parts_.issuer.consumed(id);
    parts_.settle();
    parts_.issuer.issue_what_fits(parts_, batcher_.lowest_missing());
  }

  Status damaged(const std::vector<BadRow>& rows) override {
    return parts_.options.on_damaged(rows);
  }

  Parts& parts_;
  Batcher batcher_;
  PoolContext* context_ = nullptr;
};

ActorPool<ColumnSplit>::Options Pipeline::Parts::batch_options() {
  ActorPool<ColumnSplit>::Options made;
  made.name = "batch";
  made.mailbox_bytes = kUnbounded;
  made.order = PoolOrder::kLowestKey;
  made.measures_service = true;
  made.factory = [this] { return std::make_unique<BatchWorker>(*this); };
  made.on_failure = [this](const Error& error) { fail(error); };
  return made;
}

// About two splits in each mailbox: with fewer an actor waits now and then, more only go cold
// (tests/bench/README.md).
StagePools::Options Pipeline::Parts::stage_options() {
  return {.dataset = options.dataset,
          .plan = options.plan,
          .decode = options.decode,
          .seed = options.order.seed,
          .rows = order.permutes_rows() ? ShuffleWorker::Rows::kPermuted
                                        : ShuffleWorker::Rows::kAsTheyStand,
          .mailbox_bytes = sizing.sizes().usual_split,
          .buffers = options.buffers,
          .clock = options.clock,
          .sink = *this,
          .on_failure = [this](const Error& error) { fail(error); }};
}

Pipeline::Parts::Parts(Options given)
    : options(std::move(given)),
      order(options.dataset, options.order),
      sizing(options.dataset, options.plan, options.order),
      window(sizing.sizes().largest_split),
      batches(sizing.sizes().batch),
      issuer(options.order, options.start, order, sizing, window),
      room(options.memory.room),
      prefetch(options.memory.prefetch),
      batch(batch_options(), options.clock),
      stages(stage_options()) {}

void Pipeline::Parts::issue(LoadTask task) {
  if (options.dispatch == nullptr) return stages.make(std::move(task));
  expected.add(task.id);
  options.dispatch->issued(task.id.number);
}

// The window bounds what waits for the batch actor: it is always let in.
Status Pipeline::Parts::put(ColumnSplit&& split, PoolContext& context) {
  const std::uint64_t number = split.id.number;
  const std::uint64_t rows = split.columns.rows;
  if (options.dispatch != nullptr && !expected.take(number)) return {};
  batch.offer(std::move(split), 0, context);
  if (options.dispatch != nullptr) options.dispatch->made_here(number, rows);
  return {};
}

std::uint64_t Pipeline::Parts::actors_wanted() const {
  std::uint64_t all = 0;
  for (const std::atomic<int>& one : wanted) {
    all += static_cast<std::uint64_t>(one.load(std::memory_order_relaxed));
  }
  return all;
}

// After each split, so that what one share gives back goes to the other without anyone asking.
void Pipeline::Parts::settle() {
  settlements([this] { divide_room(); });
}

void Pipeline::Parts::divide_room() {
  const auto waiting = batches.view();
  const std::uint64_t actors = actors_wanted();
  const MemoryShares shares = share_memory(room, sizing.sizes(),
                                           {.actors = actors,
                                            .elsewhere = elsewhere,
                                            .threads = std::max(actors, stages.threads()),
                                            .prefetch = prefetch,
                                            .window_used = window.used(),
                                            .prefetch_used = waiting.bytes});
  window.set_limit(shares.window);
  if (shares.prefetch != waiting.budget) batches.set_budget(shares.prefetch);
  MemoryBudget& buffers = options.buffers.budget();
  buffers.set_limit(shares.buffers);
  if (buffers.used() > shares.buffers) options.buffers.trim();
}

Pipeline::Pipeline(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {
  Parts& parts = *parts_;
  const Allocation allocation =
      parts.options.makes_splits ? parts.options.allocation : Allocation{0, 0, 0, 0};
  parts.wanted[static_cast<std::size_t>(Stage::kLoad)] = allocation.load;
  parts.wanted[static_cast<std::size_t>(Stage::kDecode)] = allocation.decode;
  parts.wanted[static_cast<std::size_t>(Stage::kShuffle)] = allocation.shuffle;
  parts.wanted[static_cast<std::size_t>(Stage::kTransform)] = allocation.transform;
  if (parts.options.start.epoch >= parts.options.order.epochs) {
    parts.end = parts.options.start;
    parts.ended.store(true, std::memory_order_release);
    parts.batches.close();
    return;
  }
  parts.settle();
  const Position& start = parts.options.start;
  const std::uint64_t lowest = start.epoch * parts.order.num_splits() + start.split;
  parts.lowest_missing.store(lowest, std::memory_order_relaxed);
  parts.issuer.issue_what_fits(parts, lowest);
  parts.batch.grow(1);
  parts.stages.resize(Stage::kTransform, static_cast<std::size_t>(allocation.transform));
  parts.stages.resize(Stage::kShuffle, static_cast<std::size_t>(allocation.shuffle));
  parts.stages.resize(Stage::kDecode, static_cast<std::size_t>(allocation.decode));
  parts.stages.resize(Stage::kLoad, static_cast<std::size_t>(allocation.load));
}

Pipeline::~Pipeline() { stop(); }

Result<std::shared_ptr<const Batch>> Pipeline::next() {
  auto batch = parts_->batches.take();
  if (!batch) return pass(batch);
  return std::move(*batch).value_or(nullptr);
}

void Pipeline::stop() {
  parts_->batches.stop();
  parts_->stages.cancel();
  parts_->batch.cancel();
}

void Pipeline::end_with(const Error& error) { parts_->fail(error); }

void Pipeline::make(std::uint64_t number) {
  Parts& parts = *parts_;
  parts.stages.make(load_task(split_id(number, parts.order), parts.order, parts.sizing));
}

bool Pipeline::expects(std::uint64_t number) const { return parts_->expected.contains(number); }

bool Pipeline::accept(std::uint64_t number, ColumnSet columns, std::vector<BadRow> bad,
                      std::uint64_t filtered, SplitOrigin origin) {
  Parts& parts = *parts_;
  const std::optional<SplitId> id = parts.expected.take(number);
  if (!id) return false;
  parts.batch.offer(ColumnSplit{*id, std::move(columns), std::move(bad), filtered, origin.times,
                                std::move(origin.node)},
                    0);
  return true;
}

void Pipeline::set_elsewhere(std::uint64_t splits) {
  parts_->elsewhere = splits;
  parts_->settle();
}

Status Pipeline::resize(Stage stage, int actors) {
  if (actors < 1) return fail(Code::kInvalid, "a stage has at least one actor");
  Parts& parts = *parts_;
  if (!parts.options.makes_splits) {
    return fail(Code::kInvalid, "this node's stages make no splits");
  }
  std::atomic<int>& wanted = parts.wanted[static_cast<std::size_t>(stage)];
  const int more = actors - wanted.load(std::memory_order_relaxed);
  const std::uint64_t threads = std::max(parts.stages.threads(), parts.actors_wanted()) +
                                static_cast<std::uint64_t>(std::max(more, 0));
  if (more > 0 && least_room(threads, parts.sizing.sizes()) > parts.room) {
    return fail(Code::kOverloaded, "no memory for another actor's thread");
  }
  wanted.store(actors, std::memory_order_relaxed);
  parts.settle();
  parts.stages.resize(stage, static_cast<std::size_t>(actors));
  parts.settle();
  return {};
}

void Pipeline::set_prefetch(std::uint64_t bytes) {
  parts_->prefetch = bytes;
  parts_->settle();
}

void Pipeline::set_room(std::uint64_t bytes) {
  parts_->room = bytes;
  parts_->settle();
}

Allocation Pipeline::allocation() const {
  const auto wanted = [this](Stage stage) {
    return parts_->wanted[static_cast<std::size_t>(stage)].load(std::memory_order_relaxed);
  };
  return {wanted(Stage::kLoad), wanted(Stage::kDecode), wanted(Stage::kShuffle),
          wanted(Stage::kTransform)};
}

PipelineStats Pipeline::stats() const {
  PipelineStats stats;
  stats.stages = parts_->stages.stats();
  stats.stages.push_back({"batch", parts_->batch.stats()});
  const auto prefetch = parts_->batches.view();
  stats.prefetch_bytes = prefetch.bytes;
  stats.prefetch_budget = prefetch.budget;
  stats.prefetch_batches = prefetch.items;
  stats.prefetch_full = prefetch.times_full;
  stats.prefetch_empty = prefetch.times_empty;
  stats.window_bytes = parts_->window.used();
  stats.window_capacity = parts_->window.limit();
  stats.splits_issued = parts_->issuer.issued();
  stats.lowest_missing = parts_->lowest_missing.load(std::memory_order_relaxed);
  return stats;
}

std::vector<PastSplit> Pipeline::history() const { return parts_->history.all(); }

const MemorySizes& Pipeline::sizes() const { return parts_->sizing.sizes(); }

std::uint64_t Pipeline::splits_per_epoch() const { return parts_->order.num_splits(); }

bool Pipeline::ended() const { return parts_->ended.load(std::memory_order_acquire); }

Position Pipeline::end_position() const {
  FOREBAY_CHECK(ended());
  return parts_->end;
}

}  // namespace forebay
