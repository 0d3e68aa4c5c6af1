#include "actors/reorder_buffer.h"

#include <algorithm>
#include <utility>

#include "actors/stage/batch_digest.h"

namespace forebay {
namespace {

/// A wrong `split_rows` in the state to resume from is detected only when the split's rows arrive.
tl::unexpected<Error> too_many_to_skip(const SplitId& id, std::size_t skip, std::size_t rows) {
  return fail(Code::kCorrupt, "the state to resume from does not fit the dataset: split_rows is " +
                                  std::to_string(skip) + ", but split " + std::to_string(id.index) +
                                  " of epoch " + std::to_string(id.epoch) + " has " +
                                  std::to_string(rows) +
                                  " sound rows; resume from another state, or start anew");
}

tl::unexpected<Error> uneven_epochs(std::uint64_t epoch, const Cursor::Uneven& uneven) {
  return fail(
      Code::kCorrupt,
      "epoch " + std::to_string(epoch) + " left out " + std::to_string(uneven.left_out) +
          " rows (damaged, held out, not sampled), the first epoch " +
          std::to_string(uneven.counted) +
          ": the files changed, or the state to resume from is not of this job; start anew");
}

// Every epoch leaves out the same rows, so a stream without an end would go on for ever.
tl::unexpected<Error> no_batch(const OrderSpec& order, std::uint64_t rows, const Position& after) {
  if (rows > 0) {
    return fail(Code::kInvalid,
                "no batch can be made: order.drop_last leaves out an epoch's last batch, and the " +
                    std::to_string(rows) +
                    " rows that remain of it are fewer than order.batch_size = " +
                    std::to_string(order.batch_size));
  }
  return fail(Code::kInvalid,
              "dataset.paths: no row remains of an epoch: " + std::to_string(after.bad_rows) +
                  " are damaged, " + std::to_string(after.held_out) +
                  " held out by trainer.evaluate_share, " + std::to_string(after.sampled) +
                  " left out by the operator sampling");
}

}  // namespace

ReorderBuffer::ReorderBuffer(const OrderSpec& order, const EpochShape& epoch, const Position& start,
                             BufferPool& pool, BatchSink& sink)
    : order_(order),
      splits_per_epoch_(epoch.splits),
      split_rows_(start.split_rows),
      sink_(sink),
      cursor_(start, epoch.splits),
      sequencer_(order.mode, start.epoch * epoch.splits + start.first_split(),
                 start.split_rows > 0),
      batcher_(order.batch_size, pool, epoch.lanes, epoch.ranked),
      first_damaged_(start == Position{}),
      epoch_{.whole = start.split == 0 && start.split_rows == 0 && start.ahead.empty()} {
  batcher_.skip(start.split_rows);
}

Status ReorderBuffer::add(Split split) {
  sequencer_.add(std::move(split));
  while (!finished() && !stopped_) {
    auto next = sequencer_.next(cursor_.epoch());
    if (!next) break;
    if (auto status = append(std::move(*next)); !status) return status;
  }
  return {};
}

Status ReorderBuffer::append(Split split) {
  const SplitId id = split.id;
  const bool is_last = split.part + 1 == split.parts;
  const std::size_t rows = split.partial ? split.partial->all : split.columns.rows;
  const std::size_t to_skip = cursor_.rows_to_skip(id);
  if (auto status = check_damaged(split); !status) return status;
  if (!split.repeats.empty()) sink_.repeated(split.repeats);
  const std::size_t skipped = split.partial ? batcher_.add(std::move(split.columns), *split.partial)
                                            : batcher_.add(std::move(split.columns));
  // The last parts of a split may have no sound rows.
  if (is_last && (to_skip > skipped || (to_skip == rows && rows > 0 && split.parts == 1))) {
    return too_many_to_skip(id, split_rows_, split_rows_ - to_skip + rows);
  }
  epoch_.rows += rows;
  cursor_.append(id, {.rows = rows,
                      .skipped = skipped,
                      .bad = split.bad.size(),
                      .held_out = split.filtered,
                      .sampled = split.sampled,
                      .is_last = is_last});
  sink_.batched(id, is_last);
  emit(order_.batch_size);
  return cursor_.epoch_is_complete() ? end_epoch() : Status{};
}

Status ReorderBuffer::check_damaged(const Split& split) {
  if (split.bad.empty()) return {};
  if (split.id.epoch == 0) {
    first_damaged_.add(split.bad);
    return sink_.damaged(split.bad);
  }
  const BadRow* other = first_damaged_.first_other(split.bad);
  if (other == nullptr) return {};
  return tl::unexpected<Error>(sink_.newly_damaged(*other, split.node));
}

void ReorderBuffer::emit(std::size_t at_least) {
  while (batcher_.rows() >= at_least && batcher_.rows() > 0 && !stopped_) {
    auto batch = std::make_shared<Batch>(batcher_.cut());
    batch->number = cursor_.position().batches;
    cursor_.give_out(batch->whole_rows, digest_of(*batch));
    batch->after = cursor_.position();
    ++epoch_.batches;
    stopped_ = !sink_.emit(std::move(batch));
  }
}

Status ReorderBuffer::end_epoch() {
  if (order_.drop_last) {
    cursor_.leave_out(batcher_.drop());
  } else {
    emit(1);
  }
  if (cursor_.uneven()) return uneven_epochs(cursor_.epoch(), *cursor_.uneven());
  if (stopped_) return {};
  const bool is_endless = order_.epochs == OrderSpec::kEndless;
  if (is_endless && epoch_.whole && epoch_.batches == 0) {
    return no_batch(order_, epoch_.rows, cursor_.position());
  }
  epoch_ = {.whole = true};
  cursor_.start_next_epoch();
  return {};
}

}  // namespace forebay
