#include "actors/stage/load_split.h"

#include <utility>

#include "actors/stage/changed_block.h"
#include "core/base/crc32c.h"

namespace forebay {
namespace {

/// Bytes of all blocks, and of the newline that a file's last row may lack.
std::size_t room_for(const std::vector<BlockRef>& blocks) {
  std::size_t bytes = 0;
  for (const BlockRef& block : blocks) bytes += block.bytes + 1;
  return bytes;
}

}  // namespace

Result<RawSplit> SplitReader::read(std::vector<BlockRef> blocks) {
  RawSplit raw;
  raw.bytes = pool_.take(room_for(blocks));
  raw.blocks = std::move(blocks);
  raw.sizes.reserve(raw.blocks.size());
  if (auto status = prepare(raw.blocks); !status) return pass(status);
  char* at = raw.bytes.as<char>();
  for (const BlockRef& block : raw.blocks) {
    const std::span<char> out(at, block.bytes);
    if (auto status = read_block(block, out); !status) return pass(status);
    at += block.bytes;
    const bool ended = block.bytes == 0 || out.back() == '\n';
    if (!ended) *at++ = '\n';
    raw.sizes.push_back(block.bytes + (ended ? 0 : 1));
  }
  raw.bytes.shrink(static_cast<std::size_t>(at - raw.bytes.as<char>()));
  return raw;
}

Status SplitReader::read_block(const BlockRef& block, std::span<char> out) {
  auto from = source(block.file);
  if (!from) return pass(from);
  BlockSource& file = **from;
  if (auto status = file.read(block.offset, out); !status) return status;
  if (crc32c(out, block.check_before) == block.check_after) return {};
  // If a program is writing to the file right now, the file's time has changed, and that error
  // explains more.
  if (auto status = file.read(block.offset, {}); !status) return status;
  return tl::unexpected<Error>(changed_block(dataset_, block, out, file.path(), pool_));
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
