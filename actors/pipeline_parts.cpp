#include "actors/pipeline_parts.h"

#include <algorithm>
#include <utility>

#include "actors/reorder_buffer.h"
#include "core/base/printable.h"

namespace forebay {
namespace {

/// For a mailbox that the window bounds already.
constexpr std::size_t kUnbounded = ~std::size_t{0} / 2;

}  // namespace

/// The one actor of the batch stage.
class Pipeline::Parts::BatchWorker final : public PoolWorker<Split>, BatchSink {
 public:
  explicit BatchWorker(Parts& parts)
      : parts_(parts),
        reorder_buffer_(parts.options.order, parts.order.num_splits(), parts.options.start,
                        parts.options.buffers, *this) {}

  Status on(Split&& split, PoolContext& context) override {
    context_ = &context;
    PastSplit past{.number = split.id.number,
                   .node = split.node,
                   .rows = split.columns.rows,
                   .times = std::move(split.times),
                   .batch = {.begin = parts_.options.clock.now()}};
    auto status = reorder_buffer_.add(std::move(split));
    past.batch.end = parts_.options.clock.now();
    parts_.history.add(std::move(past));
    parts_.lowest_missing.store(reorder_buffer_.lowest_missing(), std::memory_order_relaxed);
    if (status && reorder_buffer_.finished()) {
      parts_.end = reorder_buffer_.position();
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

  void batched(const SplitId& id) override {
    parts_.issuer.batched(id);
    parts_.settle();
    parts_.issuer.issue_what_fits(parts_, reorder_buffer_.lowest_missing());
  }

  Status damaged(const std::vector<BadRow>& rows) override {
    return parts_.options.on_damaged(rows);
  }

  Error newly_damaged(const BadRow& row, const std::string& node) override {
    return {Code::kCorrupt, parts_.options.dataset.files()[row.file].path + ": " + place_of(row) +
                                " is damaged: " + printable_field(row.reason) +
                                "; the first epoch could read it" +
                                (node.empty() ? "" : ", worker " + node + " cannot") +
                                "; its content is unchanged, so check that machine's memory"};
  }

  Parts& parts_;
  ReorderBuffer reorder_buffer_;
  PoolContext* context_ = nullptr;
};

StagePool<Split>::Options Pipeline::Parts::batch_options() {
  StagePool<Split>::Options made;
  made.name = "batch";
  made.mailbox_bytes = kUnbounded;
  made.order = PoolOrder::kLowestKey;
  made.measures_service = true;
  made.factory = [this] { return std::make_unique<BatchWorker>(*this); };
  made.on_failure = [this](const Error& error) { failed(error); };
  return made;
}

// Gives each mailbox the bytes of about two splits: with fewer an actor waits now and then; with
// more, splits go cold in the cache (tests/bench/README.md).
StagePools::Options Pipeline::Parts::stage_options() {
  return {.inputs = {.dataset = options.dataset,
                     .plan = options.plan,
                     .decode = options.decode,
                     .seed = options.order.seed,
                     .permutes_rows = order.permutes_rows(),
                     .buffers = options.buffers},
          .actors = options.makes_splits
                        ? options.actors
                        : std::vector<std::uint32_t>(options.plan.stages().size(), 0),
          .mailbox_bytes = sizing.sizes().usual_split,
          .clock = options.clock,
          .owner = *this};
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

// The stages offer splits to the batch pool, and the batch actor issues splits to the stages: every
// thread ends before either is destroyed.
Pipeline::Parts::~Parts() {
  stop();
  stages.join();
  batch.join();
}

void Pipeline::Parts::stop() {
  batches.stop();
  stages.cancel();
  batch.cancel();
}

void Pipeline::Parts::issue(Split split) {
  if (options.dispatch == nullptr) return stages.make(std::move(split));
  expected.add(split.id);
  options.dispatch->issued(split.id.number);
}

// The batch pool accepts every split at once: the window already bounds the splits that wait for
// the batch actor.
Status Pipeline::Parts::put(Split&& split, PoolContext& context) {
  const std::uint64_t number = split.id.number;
  const std::uint64_t rows = split.columns.rows;
  if (options.dispatch != nullptr && !expected.take(number)) return {};
  const std::size_t bytes = split.columns.bytes();
  batch.offer(std::move(split), bytes, context);
  if (options.dispatch != nullptr) options.dispatch->made_here(number, rows);
  return {};
}

bool Pipeline::Parts::has_room_for(std::uint64_t threads) const {
  return options.makes_splits && least_room(threads, sizing.sizes()) <= room;
}

// Runs after each split, so that bytes returned by one share become available to the others without
// a request.
void Pipeline::Parts::settle() {
  settlements([this] { divide_room(); });
}

void Pipeline::Parts::divide_room() {
  const auto waiting = batches.view();
  const std::uint64_t actors = stages.actors_wanted();
  const MemoryShares shares = share_memory(room, sizing.sizes(),
                                           {.actors = actors,
                                            .stages = stages.size(),
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

}  // namespace forebay
