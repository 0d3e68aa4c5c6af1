#include "actors/stage/load_split.h"

#include <utility>

#include "core/base/check.h"

namespace forebay {

Result<RawSplit> SplitReader::read(std::vector<BlockRef> blocks) {
  RawSplit raw;
  std::size_t most_bytes = 0;
  for (const BlockRef& block : blocks) most_bytes += block.loaded_bytes();
  raw.bytes = pool_.take(most_bytes);
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

}  // namespace forebay
