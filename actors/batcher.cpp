#include "actors/batcher.h"

#include <utility>

namespace forebay {
Batcher::Batcher(const OrderSpec& order, std::size_t splits_per_epoch, const Position& start,
                 BufferPool& pool, BatchSink& sink)
    : order_(order),
      splits_per_epoch_(splits_per_epoch),
      sink_(sink),
      cursor_(start, splits_per_epoch),
      sequencer_(order.mode, start.epoch * splits_per_epoch + start.first_split(),
                 start.split_rows > 0),
      cutter_(order.batch_size, pool),
      first_damaged_(start == Position{}) {}

Status Batcher::add(ColumnSplit split) {
  sequencer_.add(std::move(split));
  while (!finished() && !stopped_) {
    auto next = sequencer_.next(cursor_.epoch());
    if (!next) break;
    if (auto status = append(std::move(*next)); !status) return status;
  }
  return {};
}

Status Batcher::append(ColumnSplit split) {
  const SplitId id = split.id;
  if (auto status = check_damaged(split); !status) return status;
  const std::size_t skip = cursor_.rows_to_skip(id);
  cursor_.append(id, split.columns.rows, split.bad.size(), split.filtered);
  cutter_.add(std::move(split.columns), skip);
  sink_.consumed(id);
  emit(order_.batch_size);
  if (cursor_.epoch_is_complete()) end_epoch();
  return {};
}

Status Batcher::check_damaged(const ColumnSplit& split) {
  if (split.bad.empty()) return {};
  if (split.id.epoch == 0) {
    first_damaged_.add(split.bad);
    return sink_.damaged(split.bad);
  }
  const BadRow* other = first_damaged_.first_other(split.bad);
  if (other == nullptr) return {};
  return tl::unexpected<Error>(sink_.newly_damaged(*other, split.node));
}

void Batcher::emit(std::size_t at_least) {
  while (cutter_.rows() >= at_least && cutter_.rows() > 0 && !stopped_) {
    auto batch = std::make_shared<Batch>(cutter_.cut());
    batch->number = cursor_.position().batches;
    cursor_.give_out(batch->rows, BatchCutter::digest(*batch));
    batch->after = cursor_.position();
    stopped_ = !sink_.emit(std::move(batch));
  }
}

void Batcher::end_epoch() {
  if (order_.drop_last) {
    cursor_.leave_out(cutter_.drop());
  } else {
    emit(1);
  }
  if (!stopped_) cursor_.start_next_epoch();
}

}  // namespace forebay
