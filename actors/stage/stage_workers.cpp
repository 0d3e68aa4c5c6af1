#include "actors/stage/stage_workers.h"

#include <utility>

#include "actors/stage/permute.h"

namespace forebay {
namespace {

/// A closed pool means that the run is being stopped: the result is dropped.
template <class Message>
Status hand_on(ActorPool<Message>& next, Message message, std::size_t bytes, PoolContext& context) {
  next.offer(std::move(message), bytes, context);
  return {};
}

}  // namespace

Status LoadWorker::on(LoadTask&& task, PoolContext& context) {
  auto raw = reader_.read(std::move(task.blocks));
  if (!raw) return pass(raw);
  const std::size_t bytes = raw->bytes.size();
  return hand_on(next_, LoadedSplit{task.id, std::move(*raw)}, bytes, context);
}

Status DecodeWorker::on(LoadedSplit&& split, PoolContext& context) {
  Decoded decoded = format_.decode(split.raw, options_, buffers_);
  split.raw = {};
  const std::size_t bytes = decoded.columns.bytes();
  ColumnSplit columns{split.id, std::move(decoded.columns), std::move(decoded.bad),
                      decoded.filtered};
  return hand_on(next_, std::move(columns), bytes, context);
}

Status ShuffleWorker::on(ColumnSplit&& split, PoolContext& context) {
  if (rows_ == Rows::kPermuted) {
    split.columns = permute_rows(split.columns, split.id.row_key, buffers_);
  }
  const std::size_t bytes = split.columns.bytes();
  return hand_on(next_, std::move(split), bytes, context);
}

Status TransformWorker::on(ColumnSplit&& split, PoolContext& context) {
  if (auto status = plan_.run(split.columns, transform_); !status) return status;
  const std::size_t bytes = split.columns.bytes();
  return hand_on(next_, std::move(split), bytes, context);
}

}  // namespace forebay
