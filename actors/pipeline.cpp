#include "actors/pipeline.h"

#include <algorithm>
#include <optional>

#include "actors/reorder_buffer.h"
#include "actors/stage/stage_worker.h"
#include "core/base/check.h"
#include "core/base/text/printable.h"

namespace forebay {

/// The one actor of the batch stage.
class Pipeline::BatchWorker final : public PoolWorker<Split>, BatchSink {
 public:
  explicit BatchWorker(Pipeline& pipeline)
      : pipeline_(pipeline),
        reorder_buffer_(pipeline.options_.order, pipeline.order_.num_splits(),
                        pipeline.options_.start, pipeline.options_.buffers, *this) {}

  Status on(Split&& split, PoolContext& context) override {
    context_ = &context;
    PastSplit past{.number = split.id.number,
                   .node = split.node,
                   .rows = split.columns.rows,
                   .times = std::move(split.times),
                   .batch = {.begin = pipeline_.options_.clock.now()}};
    auto status = reorder_buffer_.add(std::move(split));
    past.batch.end = pipeline_.options_.clock.now();
    pipeline_.history_.add(std::move(past));
    pipeline_.lowest_missing_.store(reorder_buffer_.lowest_missing(), std::memory_order_relaxed);
    if (status && reorder_buffer_.finished()) {
      pipeline_.end_ = reorder_buffer_.position();
      pipeline_.ended_.store(true, std::memory_order_release);
      pipeline_.batches_.close();
    }
    return status;
  }

 private:
  bool emit(std::shared_ptr<const Batch> batch) override {
    const PoolContext::OutputWait waiting(*context_);
    const std::size_t bytes = batch->bytes();
    if (pipeline_.options_.on_batch) pipeline_.options_.on_batch(batch);
    return pipeline_.batches_.put(std::move(batch), bytes);
  }

  void batched(const SplitId& id) override {
    pipeline_.issuer_.batched(id);
    pipeline_.settle();
    pipeline_.issue_what_fits(reorder_buffer_.lowest_missing());
  }

  Status damaged(const std::vector<BadRow>& rows) override {
    return pipeline_.options_.on_damaged(rows);
  }

  Error newly_damaged(const BadRow& row, const std::string& node) override {
    return {Code::kCorrupt, pipeline_.options_.dataset.files()[row.file].path + ": " +
                                place_of(row) + " is damaged: " + printable_field(row.reason) +
                                "; the first epoch could read it" +
                                (node.empty() ? "" : ", worker " + node + " cannot") +
                                "; its content is unchanged, so check that machine's memory"};
  }

  Pipeline& pipeline_;
  ReorderBuffer reorder_buffer_;
  PoolContext* context_ = nullptr;
};

// Gives each mailbox the bytes of about two splits: with fewer an actor waits now and then; with
// more, splits go cold in the cache (tests/bench/README.md).
StagePools::Options Pipeline::stage_options() {
  return {.inputs = {.dataset = options_.dataset,
                     .plan = options_.plan,
                     .decode = options_.decode,
                     .seed = options_.order.seed,
                     .permutes_rows = order_.permutes_rows(),
                     .buffers = options_.buffers},
          .actors = options_.makes_splits
                        ? options_.actors
                        : std::vector<std::uint32_t>(options_.plan.stages().size(), 0),
          .mailbox_bytes = sizing_.sizes().usual_split,
          .clock = options_.clock,
          .owner = *this};
}

Pipeline::Pipeline(Options options)
    : options_(std::move(options)),
      order_(options_.dataset, options_.order),
      sizing_(options_.dataset, options_.plan, options_.order),
      window_(sizing_.sizes().largest_split),
      batches_(sizing_.sizes().batch),
      issuer_(options_.order, options_.start, order_, sizing_, window_),
      room_(options_.memory.room),
      prefetch_(options_.memory.prefetch),
      batch_(split_pool("batch", kUnbounded, *this,
                        [this] { return std::make_unique<BatchWorker>(*this); }),
             options_.clock),
      stages_(stage_options()) {
  const Position& start = options_.start;
  if (start.epoch >= options_.order.epochs) {
    end_ = start;
    ended_.store(true, std::memory_order_release);
    batches_.close();
    return;
  }
  settle();
  const std::uint64_t lowest = start.epoch * order_.num_splits() + start.split;
  lowest_missing_.store(lowest, std::memory_order_relaxed);
  issue_what_fits(lowest);
  batch_.grow(1);
  if (options_.makes_splits) stages_.start();
}

// The stages offer splits to the batch pool, and the batch actor issues splits to the stages: every
// thread ends before either is destroyed.
Pipeline::~Pipeline() {
  stop();
  stages_.join();
  batch_.join();
}

Result<std::shared_ptr<const Batch>> Pipeline::next() {
  auto batch = batches_.take();
  if (!batch) return pass(batch);
  return std::move(*batch).value_or(nullptr);
}

void Pipeline::stop() {
  batches_.stop();
  stages_.cancel();
  batch_.cancel();
}

void Pipeline::issue_what_fits(std::uint64_t lowest_missing) {
  while (std::optional<Split> split = issuer_.next(lowest_missing)) {
    if (options_.dispatch == nullptr) {
      stages_.make(std::move(*split));
    } else {
      expected_.add(split->id);
      options_.dispatch->issued(split->id.number);
    }
  }
}

void Pipeline::make(std::uint64_t number) {
  stages_.make(split_to_make(split_id(number, order_), order_, sizing_));
}

bool Pipeline::accept(Split split) {
  const std::optional<SplitId> id = expected_.take(split.id.number);
  if (!id) return false;
  split.id = *id;
  const std::size_t bytes = split.bytes();
  batch_.offer(std::move(split), bytes);
  return true;
}

// The batch pool accepts every split at once: the window already bounds the splits that wait for
// the batch actor.
Status Pipeline::put(Split&& split, PoolContext& context) {
  const std::uint64_t number = split.id.number;
  const std::uint64_t rows = split.columns.rows;
  if (options_.dispatch != nullptr && !expected_.take(number)) return {};
  const std::size_t bytes = split.columns.bytes();
  batch_.offer(std::move(split), bytes, context);
  if (options_.dispatch != nullptr) options_.dispatch->made_here(number, rows);
  return {};
}

bool Pipeline::has_room_for(std::uint64_t threads) const {
  return options_.makes_splits && least_room(threads, sizing_.sizes()) <= room_;
}

Status Pipeline::check_expected() {
  SplitReader reader(options_.dataset, options_.buffers);
  for (const SplitId& id : expected_.all()) {
    auto raw = reader.read(order_.blocks(id.epoch, id.index));
    if (!raw) return pass(raw);
  }
  return {};
}

void Pipeline::set_elsewhere(std::uint64_t splits) {
  elsewhere_ = splits;
  settle();
}

void Pipeline::set_prefetch(std::uint64_t bytes) {
  prefetch_ = bytes;
  settle();
}

void Pipeline::set_room(std::uint64_t bytes) {
  room_ = bytes;
  settle();
}

// Runs after each split, so that bytes returned by one share become available to the others without
// a request.
void Pipeline::settle() {
  settlements_([this] {
    const auto waiting = batches_.view();
    const std::uint64_t actors = stages_.actors_wanted();
    const MemoryShares shares = share_memory(room_, sizing_.sizes(),
                                             {.actors = actors,
                                              .stages = stages_.size(),
                                              .elsewhere = elsewhere_,
                                              .threads = std::max(actors, stages_.threads()),
                                              .prefetch = prefetch_,
                                              .window_used = window_.used(),
                                              .prefetch_used = waiting.bytes});
    window_.set_limit(shares.window);
    if (shares.prefetch != waiting.budget) batches_.set_budget(shares.prefetch);
    MemoryBudget& buffers = options_.buffers.budget();
    buffers.set_limit(shares.buffers);
    if (buffers.used() > shares.buffers) options_.buffers.trim();
  });
}

PipelineStats Pipeline::stats() const {
  PipelineStats stats;
  stats.stages = stages_.stats();
  stats.stages.push_back({"batch", batch_.stats()});
  stats.actors_wanted = stages_.actors();
  const auto prefetch = batches_.view();
  stats.prefetch_bytes = prefetch.bytes;
  stats.prefetch_budget = prefetch.budget;
  stats.prefetch_batches = prefetch.items;
  stats.prefetch_full = prefetch.times_full;
  stats.prefetch_empty = prefetch.times_empty;
  stats.window_bytes = window_.used();
  stats.window_capacity = window_.limit();
  stats.splits_issued = issuer_.issued();
  stats.lowest_missing = lowest_missing_.load(std::memory_order_relaxed);
  return stats;
}

Position Pipeline::end_position() const {
  FOREBAY_CHECK(ended());
  return end_;
}

}  // namespace forebay
