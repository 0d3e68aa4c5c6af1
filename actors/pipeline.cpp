#include "actors/pipeline.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "actors/batcher.h"
#include "actors/split_issuer.h"
#include "actors/stage/stage_workers.h"
#include "core/base/check.h"
#include "core/data/memory_budget.h"
#include "core/runtime/actor_pool.h"
#include "core/runtime/byte_queue.h"

namespace forebay {
namespace {

/// A mailbox that the window bounds already.
constexpr std::size_t kUnbounded = ~std::size_t{0} / 2;

}  // namespace

struct Pipeline::Parts {
  explicit Parts(Options given);

  class BatchWorker;

  template <class Message, class Factory>
  typename ActorPool<Message>::Options pool(const char* name, std::size_t mailbox_bytes,
                                            Factory factory);
  void fail(const Error& error) { batches.fail(error); }
  std::uint64_t window_for(int actors) const;

  Options options;
  EpochOrder order;
  Sizing sizing;
  std::vector<std::string> file_names;
  TransformContext transform;
  MemoryBudget window;
  ByteQueue<std::shared_ptr<const Batch>> batches;
  SplitIssuer issuer;
  std::array<std::atomic<int>, kNumStages> wanted;  // actors, by Stage
  std::atomic<std::uint64_t> lowest_missing{0};
  std::atomic<bool> ended{false};
  Position end;  // written before `ended` is set

  // A worker offers to the pool above it here, so pools go before those who feed them.
  ActorPool<ColumnSplit> batch;
  ActorPool<ColumnSplit> transforms;
  ActorPool<ColumnSplit> shuffle;
  ActorPool<LoadedSplit> decode;
  ActorPool<LoadTask> load;
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
    auto status = batcher_.add(std::move(split));
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
    return parts_.batches.put(std::move(batch), bytes);
  }

  void consumed(const SplitId& id) override {
    parts_.issuer.consumed(id);
    parts_.issuer.issue_what_fits(parts_.load, batcher_.lowest_missing());
  }

  Status damaged(const std::vector<BadRow>& rows) override {
    return parts_.options.on_damaged(rows);
  }

  Parts& parts_;
  Batcher batcher_;
  PoolContext* context_ = nullptr;
};

template <class Message, class Factory>
typename ActorPool<Message>::Options Pipeline::Parts::pool(const char* name,
                                                           std::size_t mailbox_bytes,
                                                           Factory factory) {
  typename ActorPool<Message>::Options made;
  made.name = name;
  made.mailbox_bytes = mailbox_bytes;
  made.order = PoolOrder::kLowestKey;
  made.factory = std::move(factory);
  made.on_failure = [this](const Error& error) { fail(error); };
  return made;
}

// About two splits in each mailbox: with fewer an actor waits now and then, more only go cold
// (tests/bench/README.md).
Pipeline::Parts::Parts(Options given)
    : options(std::move(given)),
      order(options.dataset, options.order),
      sizing(options.dataset, options.plan, options.order),
      transform{options.buffers, options.order.seed, file_names},
      window(options.memory.window),
      batches(options.memory.prefetch),
      issuer(options.order, options.start, order, sizing, window),
      batch(pool<ColumnSplit>("batch", kUnbounded,
                              [this] { return std::make_unique<BatchWorker>(*this); }),
            options.clock),
      transforms(
          pool<ColumnSplit>(
              "transform", sizing.usual_split(),
              [this] { return std::make_unique<TransformWorker>(options.plan, transform, batch); }),
          options.clock),
      shuffle(pool<ColumnSplit>("shuffle", sizing.usual_split(),
                                [this] {
                                  return std::make_unique<ShuffleWorker>(
                                      order.permutes_rows() ? ShuffleWorker::Rows::kPermuted
                                                            : ShuffleWorker::Rows::kAsTheyStand,
                                      options.buffers, transforms);
                                }),
              options.clock),
      decode(pool<LoadedSplit>("decode", sizing.usual_split(),
                               [this] {
                                 return std::make_unique<DecodeWorker>(options.dataset.format(),
                                                                       options.decode,
                                                                       options.buffers, shuffle);
                               }),
             options.clock),
      load(pool<LoadTask>("load", kUnbounded,
                          [this] {
                            return std::make_unique<LoadWorker>(options.dataset, options.buffers,
                                                                decode);
                          }),
           options.clock) {
  for (const DatasetFile& file : options.dataset.files()) file_names.push_back(file.name);
}

std::uint64_t Pipeline::Parts::window_for(int actors) const {
  return (static_cast<std::uint64_t>(actors) + 2 + kNumStages) * sizing.usual_split();
}

Pipeline::Pipeline(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {
  Parts& parts = *parts_;
  const Allocation& allocation = parts.options.allocation;
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
  const Position& start = parts.options.start;
  const std::uint64_t lowest = start.epoch * parts.order.num_splits() + start.split;
  parts.lowest_missing.store(lowest, std::memory_order_relaxed);
  parts.issuer.issue_what_fits(parts.load, lowest);
  parts.batch.grow(1);
  parts.transforms.grow(static_cast<std::size_t>(allocation.transform));
  parts.shuffle.grow(static_cast<std::size_t>(allocation.shuffle));
  parts.decode.grow(static_cast<std::size_t>(allocation.decode));
  parts.load.grow(static_cast<std::size_t>(allocation.load));
}

Pipeline::~Pipeline() { stop(); }

Result<std::shared_ptr<const Batch>> Pipeline::next() {
  auto batch = parts_->batches.take();
  if (!batch) return pass(batch);
  return std::move(*batch).value_or(nullptr);
}

void Pipeline::stop() {
  parts_->batches.stop();
  parts_->load.cancel();
  parts_->decode.cancel();
  parts_->shuffle.cancel();
  parts_->transforms.cancel();
  parts_->batch.cancel();
}

Status Pipeline::resize(Stage stage, int actors) {
  if (actors < 1) return fail(Code::kInvalid, "a stage has at least one actor");
  std::atomic<int>& wanted = parts_->wanted[static_cast<std::size_t>(stage)];
  const int before = wanted.load(std::memory_order_relaxed);
  const bool grows = actors > before;
  const std::uint64_t window = parts_->window_for(allocation().total() - before + actors);
  const std::uint64_t most = parts_->options.memory.buffers - parts_->sizing.cutting() -
                             2 * parts_->sizing.batch() - parts_->batches.view().budget;
  if (grows && window > most) {
    return fail(Code::kOverloaded, "no memory for another actor's splits");
  }
  parts_->window.set_limit(std::clamp(window, parts_->sizing.largest_split(),
                                      std::max(most, parts_->sizing.largest_split())));
  wanted.store(actors, std::memory_order_relaxed);
  const auto count = static_cast<std::size_t>(actors);
  switch (stage) {
    case Stage::kLoad:
      parts_->load.resize(count);
      break;
    case Stage::kDecode:
      parts_->decode.resize(count);
      break;
    case Stage::kShuffle:
      parts_->shuffle.resize(count);
      break;
    case Stage::kTransform:
      parts_->transforms.resize(count);
      break;
  }
  return {};
}

Status Pipeline::set_prefetch(std::uint64_t bytes) {
  const Parts& parts = *parts_;
  const std::uint64_t taken = parts.window.limit() + parts.sizing.cutting() + parts.sizing.batch();
  if (taken + bytes > parts.options.memory.buffers) {
    return fail(Code::kOverloaded,
                "no memory for a prefetch of " + std::to_string(bytes) + " bytes");
  }
  parts_->batches.set_budget(bytes);
  return {};
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
  stats.stages = {{"load", parts_->load.stats()},
                  {"decode", parts_->decode.stats()},
                  {"shuffle", parts_->shuffle.stats()},
                  {"transform", parts_->transforms.stats()},
                  {"batch", parts_->batch.stats()}};
  const auto prefetch = parts_->batches.view();
  stats.prefetch_bytes = prefetch.bytes;
  stats.prefetch_budget = prefetch.budget;
  stats.prefetch_batches = prefetch.items;
  stats.window_bytes = parts_->window.used();
  stats.window_capacity = parts_->window.limit();
  stats.splits_issued = parts_->issuer.issued();
  stats.lowest_missing = parts_->lowest_missing.load(std::memory_order_relaxed);
  return stats;
}

bool Pipeline::ended() const { return parts_->ended.load(std::memory_order_acquire); }

Position Pipeline::end_position() const {
  FOREBAY_CHECK(ended());
  return parts_->end;
}

}  // namespace forebay
