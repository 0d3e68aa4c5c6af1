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
        team_(pipeline.options_.batch_threads),
        reorder_buffer_(pipeline.options_.order, epoch_of(pipeline), pipeline.options_.start,
                        pipeline.options_.buffers, *this) {
    reorder_buffer_.copy_with(team_);
  }

  Status on(Split&& split, PoolContext& context) override {
    context_ = &context;
    if (split.is_wake_up) {
      pipeline_.issue_what_fits(reorder_buffer_.lowest_missing());
      return {};
    }
    if (auto same = check_counted(split); !same) return same;
    PastSplit past{.number = split.id.number,
                   .node = split.node,
                   .rows = split.columns.rows,
                   .times = std::move(split.times),
                   .batch = {.begin = pipeline_.options_.clock.now()}};
    auto status = reorder_buffer_.add(std::move(split));
    if (reorder_buffer_.waiting_bytes() > 0) widen_window();
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
  // The rows of a split of grains are compared piece by piece (StageWorker).
  Status check_counted(const Split& split) const {
    if (split.share == nullptr || split.partial || split.parts > 1) return {};
    if (split.columns.rows == split.share->rows) return {};
    return tl::unexpected<Error>(recounted_split(pipeline_.options_.dataset, split.id.number,
                                                 split.share->rows, split.columns.rows));
  }

  static EpochShape epoch_of(const Pipeline& pipeline) {
    return {.splits = pipeline.order_.num_splits(),
            .lanes = pipeline.order_.lanes(pipeline.options_.order.batch_size),
            .ranked = {.share = pipeline.options_.share,
                       .columns = pipeline.options_.plan.output(),
                       .lists_once = pipeline.options_.lists_once}};
  }

  bool emit(std::shared_ptr<const Batch> batch) override {
    const PoolContext::OutputWait waiting(*context_);
    const std::size_t bytes = batch->bytes();
    if (pipeline_.options_.on_batch) pipeline_.options_.on_batch(batch);
    return pipeline_.batches_.put(std::move(batch), bytes);
  }

  void batched(const SplitId& id, bool is_last) override {
    pipeline_.used_up(id, is_last);
    widen_window();
  }

  /// Issues splits in the place of those that are made and wait for a lower one.
  void widen_window() {
    pipeline_.waiting_for_lower_ = reorder_buffer_.waiting_bytes();
    pipeline_.settle();
    pipeline_.issue_what_fits(reorder_buffer_.lowest_missing());
  }

  void repeated(const std::vector<RepeatCount>& groups) override { pipeline_.repeats_.add(groups); }

  Status damaged(const std::vector<BadRow>& rows) override {
    return pipeline_.options_.on_damaged(rows);
  }

  Error newly_damaged(const BadRow& row, const std::string& node) override {
    return {Code::kCorrupt, pipeline_.options_.dataset.files()[row.file].path + ": " +
                                place_of(row) + " is damaged: " + printable_message(row.reason) +
                                "; the first epoch could read it" +
                                (node.empty() ? "" : ", worker " + node + " cannot") +
                                "; its content is unchanged, so check that machine's memory"};
  }

  Pipeline& pipeline_;
  ThreadTeam team_;
  ReorderBuffer reorder_buffer_;
  PoolContext* context_ = nullptr;
};

// Gives each mailbox the bytes of about two splits at first: with fewer an actor waits now and
// then; with more, splits go cold in the cache (tests/bench/README.md).
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
          .cpus = options_.cpus,
          .clock = options_.clock,
          .owner = *this,
          .groups = options_.groups};
}

Pipeline::Pipeline(Options options)
    : options_(std::move(options)),
      order_(options_.dataset, options_.order),
      sizing_(options_.dataset, options_.plan, options_.order),
      window_(sizing_.sizes().held + sizing_.sizes().largest_split),
      batches_(sizing_.sizes().batch),
      issuer_(options_.order, options_.start, order_, sizing_, window_, rank_walk()),
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

std::optional<RankWalk> Pipeline::rank_walk() const {
  if (options_.share.is_all()) return std::nullopt;
  FOREBAY_CHECK(options_.counts != nullptr);
  return RankWalk({.order = order_,
                   .counts = *options_.counts,
                   .batch_size = options_.order.batch_size,
                   .drop_last = options_.order.drop_last,
                   .share = options_.share},
                  options_.start);
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
  if (!*batch) return std::shared_ptr<const Batch>();
  if (issuer_.taken((**batch)->number + 1)) wake_up();
  return std::move(**batch);
}

void Pipeline::wake_up() {
  Split nothing;
  nothing.is_wake_up = true;
  batch_.offer(std::move(nothing), 0);
}

void Pipeline::stop() {
  batches_.stop();
  stages_.cancel();
  batch_.cancel();
}

void Pipeline::issue_what_fits(std::uint64_t lowest_missing) {
  while (std::optional<Split> split = issuer_.next(lowest_missing)) {
    if (split->share != nullptr && !split->share->is_needed()) {
      batch_.offer(std::move(*split), 0);
    } else if (options_.dispatch == nullptr) {
      stages_.make(std::move(*split));
    } else {
      expected_.add(split->id, split->share);
      options_.dispatch->issued(split->id.number);
    }
  }
}

void Pipeline::make(std::uint64_t number) {
  Split split = split_to_make(split_id(number, order_), order_, sizing_);
  split.share = expected_.share_of(number);
  stages_.make(std::move(split));
}

bool Pipeline::accept(std::vector<Split> parts) {
  const std::optional<SplitId> id = expected_.take(parts.front().id.number);
  if (!id) return false;
  for (Split& part : parts) {
    part.id = *id;
    const std::size_t bytes = part.bytes();
    batch_.offer(std::move(part), bytes);
  }
  return true;
}

// A part that another node made has its bytes in those of the split.
void Pipeline::used_up(const SplitId& id, bool is_last) {
  stages_.returned(id);
  if (is_last) issuer_.batched(id.number);
}

bool Pipeline::takes(const SplitId& id, std::uint64_t rows) {
  if (options_.dispatch == nullptr) return true;
  if (!expected_.take(id.number)) return false;
  options_.dispatch->made_here(id.number, rows);
  return true;
}

// The batch pool accepts every split at once: the window already bounds the splits that wait for
// the batch actor.
Status Pipeline::put(Split&& split, PoolContext& context) {
  // The stages have asked for a split that is made in parts.
  if (split.parts == 1 && !takes(split.id, split.columns.rows)) return {};
  const std::size_t bytes = split.columns.bytes();
  batch_.offer(std::move(split), bytes, context);
  return {};
}

bool Pipeline::has_room_for(std::uint64_t threads, std::uint64_t children) const {
  const MemorySizes& sizes = sizing_.sizes();
  return options_.makes_splits &&
         least_room(threads, sizes) - least_children(sizes) + children <= room_;
}

Status Pipeline::check_expected() {
  SplitReader reader(options_.dataset, options_.buffers);
  for (const SplitId& id : expected_.all()) {
    auto raw = reader.read(order_.blocks(id.epoch, id.index));
    if (!raw) return pass(raw);
  }
  return {};
}

std::size_t Pipeline::parts_of(std::uint64_t number) const {
  const SplitId id = split_id(number, order_);
  return stages_.cut(order_.blocks(id.epoch, id.index)).parts;
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
    stages_.fit_queues();
    const auto waiting = batches_.view();
    const std::uint64_t actors = stages_.actors_wanted();
    const MemoryShares shares =
        share_memory(room_, sizing_.sizes(),
                     {.actors = actors,
                      .stages = stages_.size(),
                      .elsewhere = elsewhere_,
                      .threads = std::max(actors, stages_.threads()),
                      .children = stages_.children_bytes(),
                      .prefetch = prefetch_,
                      .window_used = window_.used() + stages_.part_budget().used(),
                      .window_waiting = waiting_for_lower_,
                      .deepened = stages_.deepened(),
                      .prefetch_used = waiting.bytes});
    window_.set_limit(shares.window);
    window_wanted_.store(shares.window_wanted, std::memory_order_relaxed);
    stages_.part_budget().set_limit(shares.parts);
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
  stats.fused = stages_.groups().names(options_.plan.stages());
  const auto prefetch = batches_.view();
  stats.prefetch_bytes = prefetch.bytes;
  stats.prefetch_budget = prefetch.budget;
  stats.prefetch_batches = prefetch.items;
  stats.prefetch_full = prefetch.times_full;
  stats.prefetch_empty = prefetch.times_empty;
  stats.window_bytes = window_.used() + stages_.part_budget().used();
  stats.window_capacity = window_.limit() + stages_.part_budget().limit();
  stats.window_wanted = window_wanted_.load(std::memory_order_relaxed);
  stats.splits_issued = issuer_.issued();
  stats.lowest_missing = lowest_missing_.load(std::memory_order_relaxed);
  stats.repeats = repeats_.all();
  return stats;
}

Position Pipeline::end_position() const {
  FOREBAY_CHECK(ended());
  return end_;
}

}  // namespace forebay
