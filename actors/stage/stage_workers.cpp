#include "actors/stage/stage_workers.h"

#include <utility>

#include "actors/stage/permute.h"

namespace forebay {
namespace {

/// A closed pool means that the run is being stopped; the result is dropped then.
template <class Message>
Status hand_on(StagePool<Message>& next, Message message, std::size_t bytes, PoolContext& context) {
  next.offer(std::move(message), bytes, context);
  return {};
}

}  // namespace

Status LoadWorker::on(LoadTask&& task, PoolContext& context) {
  SplitTimes times;
  times.stages[0].begin = clock_.now();
  auto raw = reader_.read(std::move(task.blocks));
  if (!raw) return pass(raw);
  const std::size_t bytes = raw->bytes.size();
  times.stages[0].end = clock_.now();
  return hand_on(next_, LoadedSplit{task.id, std::move(*raw), times}, bytes, context);
}

Status DecodeWorker::on(LoadedSplit&& split, PoolContext& context) {
  split.times.stages[1].begin = clock_.now();
  Decoded decoded = dataset_.format().decode(split.raw, options_, buffers_);
  if (decoded.miscounted) {
    return tl::unexpected<Error>(miscounted_split(dataset_, *decoded.miscounted));
  }
  split.raw = {};
  const std::size_t bytes = decoded.columns.bytes();
  split.times.stages[1].end = clock_.now();
  ColumnSplit columns{split.id, std::move(decoded.columns), std::move(decoded.bad),
                      decoded.filtered, split.times};
  return hand_on(next_, std::move(columns), bytes, context);
}

Status ShuffleWorker::on(ColumnSplit&& split, PoolContext& context) {
  split.times.stages[2].begin = clock_.now();
  if (rows_ == Rows::kPermuted) {
    split.columns = permute_rows(split.columns, split.id.row_key, buffers_);
  }
  split.times.stages[2].end = clock_.now();
  const std::size_t bytes = split.columns.bytes();
  return hand_on(next_, std::move(split), bytes, context);
}

Status TransformWorker::on(ColumnSplit&& split, PoolContext& context) {
  split.times.stages[3].begin = clock_.now();
  if (auto status = plan_.run(split.columns, transform_); !status) return status;
  split.times.stages[3].end = clock_.now();
  return next_.put(std::move(split), context);
}

}  // namespace forebay
