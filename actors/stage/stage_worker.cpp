#include "actors/stage/stage_worker.h"

#include <cstring>
#include <string>
#include <utility>

#include "actors/stage/rows/permute.h"
#include "actors/stage/split_assembly.h"
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

Result<std::shared_ptr<BegunRead>> SplitReader::begin(const std::vector<BlockRef>& blocks) {
  auto begun = std::make_shared<BegunRead>(pool_.take(Extent::of(blocks).bytes));
  for (const BlockRef& block : blocks) {
    auto from = source(block.file);
    if (!from) return pass(from);
    if (!begun->add(block, *from)) return std::shared_ptr<BegunRead>();
  }
  return begun;
}

bool BegunRead::add(const BlockRef& block, const std::shared_ptr<BlockSource>& source) {
  char* const at = raw_.bytes.as<char>() + reserved_;
  auto pending = source->begin(block, {at, block.loaded_bytes()});
  if (pending == nullptr) return false;
  pending_.push_back({source, std::move(pending), reserved_});
  raw_.blocks.push_back(block);
  reserved_ += block.loaded_bytes();
  return true;
}

// The blocks have to lie back to back, and some are shorter than the most that they could be.
Result<RawSplit> BegunRead::finish() {
  char* const bytes = raw_.bytes.as<char>();
  std::size_t filled = 0;
  for (Block& block : pending_) {
    auto size = block.pending->finish();
    if (!size) return pass(size);
    if (filled != block.at) std::memmove(bytes + filled, bytes + block.at, *size);
    raw_.sizes.push_back(*size);
    filled += *size;
  }
  raw_.bytes.shrink(filled);
  pending_.clear();
  return std::move(raw_);
}

Error miscounted_split(const Dataset& dataset, const BadRow& where) {
  return {Code::kCorrupt, dataset.files()[where.file].path + ": " + place_of(where) + ": " +
                              where.reason +
                              "; remove the folder index in the job's run.dir and run again"};
}

Error recounted_split(const Dataset& dataset, std::uint64_t number, std::uint64_t counted,
                      std::uint64_t found) {
  return {Code::kCorrupt,
          dataset.files().front().path + " and the files with it: of split " +
              std::to_string(number) + " " + std::to_string(found) + " rows remain, and " +
              std::to_string(counted) +
              " did when they were counted; remove the folder index in the job's run.dir and run "
              "again"};
}

// If the file was changed since it was indexed, the error that says so explains more.
Error damaged_block(const Dataset& dataset, const BadRow& where) {
  if (auto file = dataset.open(where.file); !file) return file.error();
  return {Code::kCorrupt, dataset.files()[where.file].path + ": row group " +
                              std::to_string(where.group.value_or(0)) + ", " + where.reason};
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

Result<std::shared_ptr<BlockSource>> SplitReader::source(std::uint32_t file) {
  if (const auto found = open_.find(file); found != open_.end()) return found->second;
  if (open_.size() >= kMostOpen) open_.clear();
  auto opened = dataset_.open(file);
  if (!opened) return pass(opened);
  return open_.emplace(file, std::move(*opened)).first->second;
}

Status StageWorker::run(Split& split, std::function<bool()> cancelled) {
  switch (stage_.kind) {
    case StageInfo::Kind::kLoad:
      return load(split);
    case StageInfo::Kind::kDecode:
      return decode(split);
    case StageInfo::Kind::kShuffle:
      shuffle(split);
      return {};
    case StageInfo::Kind::kTransform:
      return transform(split, std::move(cancelled));
  }
  FOREBAY_CHECK(false);
}

Status StageWorker::transform(Split& split, std::function<bool()> cancelled) {
  state_.cancelled = std::move(cancelled);
  TransformContext context = transform_;
  context.actor = &state_;
  const std::size_t rows = split.columns.rows;
  if (auto done = inputs_.plan.run(stage_, split.columns, context); !done) return done;
  split.sampled += rows - split.columns.rows;
  return {};
}

Status StageWorker::load(Split& split) {
  auto raw =
      split.begun != nullptr ? split.begun->finish() : reader_.read(std::move(split.raw.blocks));
  if (!raw) return pass(raw);
  split.raw = std::move(*raw);
  split.begun.reset();
  return {};
}

// The columns of the pieces are freed with the last part.
void StageWorker::shuffle(Split& split) const {
  if (split.assembly != nullptr) {
    split.columns = split.assembly->columns_of(split.part, inputs_.permutes_rows, inputs_.buffers);
    split.assembly.reset();
  } else if (inputs_.permutes_rows) {
    split.columns = permute_rows(split.columns, split.id.row_key, inputs_.buffers);
  }
}

// The sets of repeated columns are this thread's own until the split is handed on, so operators may
// change them here.
Status StageWorker::decode(Split& split) const {
  const Format& format = inputs_.dataset.format();
  Decoded decoded = format.decode(split.raw, options_for(split), inputs_.buffers);
  if (decoded.damaged) {
    return tl::unexpected<Error>(damaged_block(inputs_.dataset, *decoded.damaged));
  }
  if (decoded.miscounted) {
    return tl::unexpected<Error>(miscounted_split(inputs_.dataset, *decoded.miscounted));
  }
  split.raw = {};
  split.repeats = store_repeated(decoded, format.schema(), inputs_.buffers);
  split.columns = std::move(decoded.columns);
  split.bad = std::move(decoded.bad);
  split.filtered = decoded.filtered;
  if (inputs_.plan.runs_repeated()) {
    if (auto run = inputs_.plan.run_repeated(split.columns, transform_); !run) return run;
  }
  return split.assembly != nullptr ? finish_piece(split, decoded.is_dealt) : Status{};
}

// Rows that are sampled away leave before the others are dealt.
DecodeOptions StageWorker::options_for(const Split& split) const {
  DecodeOptions options = inputs_.decode;
  if (split.assembly != nullptr && inputs_.permutes_rows && !inputs_.plan.samples()) {
    options.deal = split.assembly->deal_of(split.part);
  }
  return options;
}

// The rows of a piece are dealt to lanes, and how many remain decides which lane gets which row:
// rows that are sampled away leave before (design/grains.md).
Status StageWorker::finish_piece(Split& piece, bool is_dealt) const {
  const std::size_t rows = piece.columns.rows;
  if (auto sampled = inputs_.plan.sample(piece.columns, transform_); !sampled) return sampled;
  piece.sampled = rows - piece.columns.rows;
  const auto counted = piece.assembly->counted_rows(piece.part);
  if (counted && *counted != piece.columns.rows) {
    return tl::unexpected<Error>(
        recounted_split(inputs_.dataset, piece.id.number, *counted, piece.columns.rows));
  }
  if (inputs_.permutes_rows && !is_dealt) {
    deal_rows(piece.columns, piece.assembly->deal_of(piece.part), inputs_.buffers);
  }
  return {};
}

}  // namespace forebay
