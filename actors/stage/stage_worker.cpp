#include "actors/stage/stage_worker.h"

#include <utility>

#include "actors/stage/permute.h"
#include "core/base/check.h"

namespace forebay {

Result<RawSplit> SplitReader::read(std::vector<BlockRef> blocks) {
  RawSplit raw;
  raw.bytes = pool_.take(Extent::of(blocks).bytes);
  raw.blocks = std::move(blocks);
  raw.sizes.reserve(raw.blocks.size());
  if (auto status = prepare(raw.blocks); !status) return pass(status);
  char* at = raw.bytes.as<char>();
  for (const BlockRef& block : raw.blocks) {
    auto from = source(block.file);
    if (!from) return pass(from);
    auto size = (*from)->load(block, {at, block.loaded_bytes()});
    if (!size) return pass(size);
    FOREBAY_CHECK(*size <= block.loaded_bytes());
    raw.sizes.push_back(*size);
    at += *size;
  }
  raw.bytes.shrink(static_cast<std::size_t>(at - raw.bytes.as<char>()));
  return raw;
}

Error miscounted_split(const Dataset& dataset, const BadRow& where) {
  return {Code::kCorrupt, dataset.files()[where.file].path + ": " + place_of(where) + ": " +
                              where.reason +
                              "; remove the folder index in the job's run.dir and run again"};
}

// Announces to each file the blocks that will be read, so that a cold disk can read ahead.
Status SplitReader::prepare(std::span<const BlockRef> blocks) {
  while (!blocks.empty()) {
    std::size_t run = 1;
    while (run < blocks.size() && blocks[run].file == blocks.front().file) ++run;
    auto from = source(blocks.front().file);
    if (!from) return pass(from);
    (*from)->prepare(blocks.first(run));
    blocks = blocks.subspan(run);
  }
  return {};
}

Result<BlockSource*> SplitReader::source(std::uint32_t file) {
  if (const auto found = open_.find(file); found != open_.end()) return found->second.get();
  if (open_.size() >= kMostOpen) open_.clear();
  auto opened = dataset_.open(file);
  if (!opened) return pass(opened);
  return open_.emplace(file, std::move(*opened)).first->second.get();
}

Status StageWorker::run(Split& split) {
  switch (stage_.kind) {
    case StageInfo::Kind::kLoad:
      return load(split);
    case StageInfo::Kind::kDecode:
      return decode(split);
    case StageInfo::Kind::kShuffle:
      if (inputs_.permutes_rows) {
        split.columns = permute_rows(split.columns, split.id.row_key, inputs_.buffers);
      }
      return {};
    case StageInfo::Kind::kTransform:
      return inputs_.plan.run(stage_, split.columns, transform_);
  }
  FOREBAY_CHECK(false);
}

Status StageWorker::load(Split& split) {
  auto raw = reader_.read(std::move(split.raw.blocks));
  if (!raw) return pass(raw);
  split.raw = std::move(*raw);
  return {};
}

Status StageWorker::decode(Split& split) const {
  Decoded decoded = inputs_.dataset.format().decode(split.raw, inputs_.decode, inputs_.buffers);
  if (decoded.miscounted) {
    return tl::unexpected<Error>(miscounted_split(inputs_.dataset, *decoded.miscounted));
  }
  split.raw = {};
  split.columns = std::move(decoded.columns);
  split.bad = std::move(decoded.bad);
  split.filtered = decoded.filtered;
  return {};
}

}  // namespace forebay
