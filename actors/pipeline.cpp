#include "actors/pipeline.h"

#include <optional>
#include <utility>

#include "actors/pipeline_parts.h"
#include "actors/stage/stage_worker.h"
#include "core/base/check.h"

namespace forebay {

Pipeline::Pipeline(Options options) : parts_(std::make_unique<Parts>(std::move(options))) {
  Parts& parts = *parts_;
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
  if (parts.options.makes_splits) parts.stages.start();
}

Pipeline::~Pipeline() = default;

Result<std::shared_ptr<const Batch>> Pipeline::next() {
  auto batch = parts_->batches.take();
  if (!batch) return pass(batch);
  return std::move(*batch).value_or(nullptr);
}

void Pipeline::stop() { parts_->stop(); }

void Pipeline::end_with(const Error& error) { parts_->failed(error); }

void Pipeline::make(std::uint64_t number) {
  Parts& parts = *parts_;
  parts.stages.make(split_to_make(split_id(number, parts.order), parts.order, parts.sizing));
}

bool Pipeline::expects(std::uint64_t number) const { return parts_->expected.contains(number); }

bool Pipeline::accept(Split split) {
  Parts& parts = *parts_;
  const std::optional<SplitId> id = parts.expected.take(split.id.number);
  if (!id) return false;
  split.id = *id;
  const std::size_t bytes = split.bytes();
  parts.batch.offer(std::move(split), bytes);
  return true;
}

Status Pipeline::check_expected() {
  const Parts& parts = *parts_;
  SplitReader reader(parts.options.dataset, parts.options.buffers);
  for (const SplitId& id : parts.expected.all()) {
    auto raw = reader.read(parts.order.blocks(id.epoch, id.index));
    if (!raw) return pass(raw);
  }
  return {};
}

void Pipeline::set_elsewhere(std::uint64_t splits) {
  parts_->elsewhere = splits;
  parts_->settle();
}

StagePools& Pipeline::stages() { return parts_->stages; }

const StagePools& Pipeline::stages() const { return parts_->stages; }

void Pipeline::set_prefetch(std::uint64_t bytes) {
  parts_->prefetch = bytes;
  parts_->settle();
}

void Pipeline::set_room(std::uint64_t bytes) {
  parts_->room = bytes;
  parts_->settle();
}

PipelineStats Pipeline::stats() const {
  PipelineStats stats;
  stats.stages = parts_->stages.stats();
  stats.stages.push_back({"batch", parts_->batch.stats()});
  stats.actors_wanted = parts_->stages.actors();
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
