#include "tests/scheduler/sim_job.h"

#include <algorithm>
#include <utility>

#include "core/wire/column_frames.h"
#include "tests/support/columns.h"

namespace forebay::scheduler {
namespace {

constexpr std::size_t kMostReady = 3;

/// Accepts every split: for the run without a cluster.
struct Everything final : BatchSink {
  bool emit(std::shared_ptr<const Batch>) override { return true; }
  void batched(const SplitId&, bool) override {}
  void repeated(const std::vector<RepeatCount>&) override {}
  Status damaged(const std::vector<BadRow>&) override { return {}; }
  Error newly_damaged(const BadRow&, const std::string&) override { return {}; }
};

/// The splits of the whole job that a run from `start` needs, in order.
std::deque<std::uint64_t> needed(const SimJob& job, const Position& start) {
  const std::uint64_t begin = start.epoch * job.splits + start.split;
  std::deque<std::uint64_t> numbers;
  for (std::uint64_t number = begin; number < job.epochs * job.splits; ++number) {
    const auto distance = static_cast<std::uint32_t>(number - begin);
    const bool done =
        std::find(start.ahead.begin(), start.ahead.end(), distance) != start.ahead.end();
    if (!done) numbers.push_back(number);
  }
  if (start.split_rows > 0) {  // A split of which some rows were given out already comes first.
    const std::uint64_t open = start.epoch * job.splits + start.open_split;
    std::erase(numbers, open);
    numbers.push_front(open);
  }
  return numbers;
}

}  // namespace

std::uint64_t SimJob::first_row(std::uint64_t index) const {
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < index; ++i) first += rows_in(i);
  return first;
}

OrderSpec SimJob::order() const {
  OrderSpec order;
  order.batch_size = batch_size;
  order.epochs = epochs;
  order.mode = mode;
  return order;
}

JobShare SimJob::share() const {
  return {.id = "job",
          .text = "simulated",
          .fingerprint = "f" + std::to_string(splits),
          .splits_per_epoch = splits,
          .epochs = epochs};
}

Split SimJob::split(std::uint64_t number, BufferPool& pool) const {
  Split made;
  made.id.number = number;
  made.id.epoch = number / splits;
  made.id.index = number % splits;
  made.key = number;
  made.columns = test::numbered_rows(first_row(made.id.index), rows_in(made.id.index), pool);
  return made;
}

Frames SimJob::frames(std::uint64_t number, BufferPool& pool) const {
  return pack_columns(split(number, pool).columns, {}, {}, pool);
}

Digest SimJob::digest() const {
  MemoryBudget budget(1 << 26);
  BufferPool pool(budget);
  Everything sink;
  ReorderBuffer reorder_buffer(order(), {.splits = splits}, {}, pool, sink);
  for (std::uint64_t number = 0; number < splits * epochs; ++number) {
    static_cast<void>(reorder_buffer.add(split(number, pool)));
  }
  return reorder_buffer.position().digest;
}

SimPipeline::SimPipeline(const SimJob& job, Handed start)
    : job_(job),
      handed_(std::move(start)),
      reorder_buffer_(job_.order(), {.splits = job_.splits}, handed_.position, pool_, *this),
      queue_(needed(job_, handed_.position)) {
  handed_.times.resize(job_.rows(), 0);
}

std::vector<std::uint64_t> SimPipeline::issue() {
  std::vector<std::uint64_t> issued;
  while (!queue_.empty() && in_window_.size() < job_.window) {
    issued.push_back(queue_.front());
    issued_.insert(queue_.front());
    in_window_.insert(queue_.front());
    expected_.insert(queue_.front());
    queue_.pop_front();
  }
  return issued;
}

Result<bool> SimPipeline::arrived(std::uint64_t number, const std::string&, Frames frames) {
  if (!issued_.contains(number)) broken = "split " + std::to_string(number) + " came unasked";
  if (expected_.erase(number) == 0) return false;  // It was made here, and may be used already.
  const UnpackLimits limits{.max_rows = 11, .dense = 1, .sparse = 2, .max_bytes = 1 << 16};
  auto columns = unpack_columns(frames, limits, pool_);
  if (!columns) return pass(columns);
  Split split = job_.split(number, pool_);
  split.columns = std::move(columns->columns);
  take(std::move(split));
  return true;
}

bool SimPipeline::made_here(std::uint64_t number) {
  if (expected_.erase(number) == 0) return false;
  take(job_.split(number, pool_));
  return true;
}

void SimPipeline::take(Split split) {
  inbox_.push_back(std::move(split));
  ++num_arrived_;
  if (inbox_.size() > job_.window) broken = "more splits are here than the window has room for";
}

void SimPipeline::work() {
  while (!inbox_.empty() && ready_.size() < kMostReady) {
    Split split = std::move(inbox_.front());
    inbox_.pop_front();
    if (auto status = reorder_buffer_.add(std::move(split)); !status)
      broken = status.error().message;
  }
}

bool SimPipeline::hand_out() {
  if (ready_.empty()) return false;
  const Batch& batch = *ready_.front();
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const auto number = static_cast<std::size_t>(batch.dense[row * batch.dense_features]);
    if (number >= handed_.times.size()) {
      broken = "a row that is not in the dataset";
    } else if (++handed_.times[number] > job_.epochs) {
      broken = "row " + std::to_string(number) + " came too often";
    }
  }
  handed_.position = batch.after;
  ready_.pop_front();
  return true;
}

bool SimPipeline::emit(std::shared_ptr<const Batch> batch) {
  ready_.push_back(std::move(batch));
  return true;
}

void SimPipeline::batched(const SplitId& id, bool) {
  if (in_window_.erase(id.number) == 0) {
    broken = "split " + std::to_string(id.number) + " was used twice";
  }
}

}  // namespace forebay::scheduler
