#include "actors/stage/split_assembly.h"

#include <algorithm>
#include <utility>

#include "actors/pipeline_spec.h"
#include "actors/stage/rows/permute.h"
#include "core/base/check.h"
#include "core/base/random.h"

namespace forebay {
namespace {

/// A piece ends when it has so many loaded bytes; most grains have more. Small grains are put
/// together, but to no fewer pieces than kFewestPieces: a lane should have few rows of the pieces
/// of its neighbours.
constexpr std::uint64_t kMostPiece = 768 << 10;
constexpr std::uint64_t kLeastPiece = 64 << 10;
constexpr std::uint64_t kFewestPieces = 80;

/// Decoded bytes of a part, unless pieces are smaller.
constexpr std::uint64_t kMostPart = 8 << 20;

constexpr std::uint64_t kPiecesDomain = 0x70696563;  // "piec": keys of the deals of pieces

std::vector<std::vector<BlockRef>> pieces_of(const std::vector<BlockRef>& blocks) {
  const std::uint64_t enough =
      std::clamp(Extent::of(blocks).bytes / kFewestPieces, kLeastPiece, kMostPiece);
  std::vector<std::vector<BlockRef>> pieces;
  std::uint64_t bytes = enough;
  for (const BlockRef& block : blocks) {
    if (bytes >= enough) {
      pieces.emplace_back();
      bytes = 0;
    }
    pieces.back().push_back(block);
    bytes += block.loaded_bytes();
  }
  return pieces;
}

/// How many parts have at least RowDeal::kTogether rows of each piece in the mean.
std::size_t parts_with_chunks(std::uint64_t rows, std::size_t pieces) {
  return std::clamp<std::uint64_t>(rows / pieces / RowDeal::kTogether, 1, pieces);
}

/// The time in which the pieces went through one stage.
SplitTimes::Span union_of(const std::vector<const Split*>& pieces, std::size_t stage) {
  SplitTimes::Span span = pieces.front()->times.stages[stage];
  for (const Split* piece : pieces) {
    span.begin = std::min(span.begin, piece->times.stages[stage].begin);
    span.end = std::max(span.end, piece->times.stages[stage].end);
  }
  return span;
}

}  // namespace

SplitCut cut_split(const std::vector<BlockRef>& blocks, std::uint64_t decoded, bool permutes_rows) {
  SplitCut cut;
  if (permutes_rows) {
    cut.pieces = pieces_of(blocks);
  } else {
    cut.pieces = {blocks};
  }
  const std::uint64_t fewest = (decoded + kMostPart - 1) / kMostPart;
  cut.parts =
      std::max<std::size_t>(parts_with_chunks(Extent::of(blocks).rows, cut.pieces.size()), fewest);
  return cut;
}

SplitAssembly::SplitAssembly(const SplitId& id, std::size_t pieces, std::size_t parts)
    : id_(id),
      parts_(parts),
      pieces_(pieces),
      begins_(pieces),
      needed_(pieces, true),
      missing_(pieces) {}

SplitAssembly::SplitAssembly(const SplitId& id, const std::vector<std::size_t>& piece_rows,
                             std::size_t parts, std::shared_ptr<const SplitShare> share)
    : id_(id),
      parts_(parts),
      share_(std::move(share)),
      pieces_(piece_rows.size()),
      begins_(pieces_.size()),
      needed_(pieces_.size()),
      missing_(0) {
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    find_begins(piece, piece_rows[piece]);
  }
  even_out();
  find_needed();
}

// The transforms of a part without rows need its columns nevertheless: those of one piece.
void SplitAssembly::find_needed() {
  for (std::size_t part = 0; part < parts_; ++part) mark_needed(part);
  if (std::ranges::count(needed_, true) == 0) needed_.front() = true;
  missing_ = static_cast<std::size_t>(std::ranges::count(needed_, true));
}

void SplitAssembly::mark_needed(std::size_t part) {
  const Contents contents = contents_of(part);
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const RowRange run{at, at + begin_of(i, part + 1) - begin_of(i, part)};
    at = run.end;
    for (const RowRange& wanted : contents.rows.ranges) {
      if (run.meets(wanted)) needed_[i] = true;
    }
  }
}

std::optional<std::size_t> SplitAssembly::counted_rows(std::size_t piece) const {
  if (share_ == nullptr) return std::nullopt;
  return begins_[piece].back();
}

bool SplitAssembly::add(Split&& piece) {
  const std::size_t number = piece.part;
  pieces_[number] = std::move(piece);
  pieces_[number].assembly.reset();
  if (share_ == nullptr) find_begins(number, pieces_[number].columns.rows);
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) > 1) return false;
  if (share_ == nullptr) even_out();
  return true;
}

void SplitAssembly::find_begins(std::size_t piece, std::size_t rows) {
  begins_[piece] = RowDealer(deal_of(piece), rows).begins();
}

void SplitAssembly::even_out() {
  const auto rows_of_piece = [](const auto& begins) { return begins.back(); };
  std::vector<std::size_t>& begins = *std::ranges::max_element(begins_, {}, rows_of_piece);
  for (std::size_t part = 1; part < parts_; ++part) {
    std::size_t rows = 0;  // in the parts before
    for (const auto& of_piece : begins_) rows += of_piece[part];
    const std::size_t too_many = std::min(begins[part], rows % kBatchLanes);
    begins[part] = std::max(begins[part - 1], begins[part] - too_many);
  }
}

std::uint64_t SplitAssembly::rows() const {
  std::uint64_t rows = 0;
  for (const auto& of_piece : begins_) rows += of_piece.back();
  return rows;
}

/// The rows of a part, counted from the split's first.
RowRange SplitAssembly::part_range(std::size_t part) const {
  RowRange rows;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    rows.begin += begin_of(i, part);
    rows.end += begin_of(i, part + 1);
  }
  return rows;
}

/// Whether a needed lane has its turn for one of the rows that the lanes do not divide.
bool SplitAssembly::needs_rest(const RowRange& part) const {
  const std::size_t lanes = share_->lanes;
  const std::size_t left_over = part.size() % lanes;
  for (std::size_t i = 0; i < left_over; ++i) {
    const std::size_t turn = (share_->first_row + part.begin + i) % lanes;
    const std::size_t lane = lane_in_turn(turn, lanes);
    if (share_->needed.contains({lane, lane + 1})) return true;
  }
  return false;
}

// There may be fewer lanes than sections: the sections that hold rows of a needed lane are needed.
SplitAssembly::Contents SplitAssembly::contents_of(std::size_t part) const {
  const RowRange range = part_range(part);
  const std::size_t rows = range.size();
  const std::size_t each = rows / kBatchLanes;
  Contents contents{{.all = rows, .ranges = {}}, {.first = 0, .count = kBatchLanes, .rows = each}};
  if (share_ == nullptr) {
    contents.rows.ranges = {{0, rows}};
    return contents;
  }
  const RowRange rest{kBatchLanes * each, rows};
  const std::size_t of_lane = rows / share_->lanes;
  const RowRange wanted{share_->needed.begin * of_lane, share_->needed.end * of_lane};
  contents.sections.count = 0;
  if (each > 0 && wanted.size() > 0) {
    const std::size_t first = wanted.begin / each;
    const std::size_t end = std::min(kBatchLanes, (wanted.end + each - 1) / each);
    contents.sections = {.first = first, .count = end - first, .rows = each};
    contents.rows.ranges.push_back({first * each, end * each});
  }
  if (rest.size() == 0 || !(wanted.end > rest.begin || needs_rest(range))) return contents;
  if (!contents.rows.ranges.empty() && contents.rows.ranges.back().end == rest.begin) {
    contents.rows.ranges.back().end = rest.end;
  } else {
    contents.rows.ranges.push_back(rest);
  }
  return contents;
}

std::size_t SplitAssembly::rows_of(std::size_t part) const {
  const PartialRows rows = contents_of(part).rows;
  std::size_t held = 0;
  for (const RowRange& range : rows.ranges) held += range.size();
  return held;
}

std::size_t SplitAssembly::bytes_of(std::size_t part) const {
  return permuted_bytes(slices_of(part, contents_of(part)));
}

std::vector<RowSlice> SplitAssembly::slices_of(std::size_t part, const Contents& contents) const {
  std::vector<RowSlice> slices;
  slices.reserve(pieces_.size() + 1);
  const auto first = std::ranges::find(needed_, true) - needed_.begin();
  slices.push_back({&pieces_[static_cast<std::size_t>(first)].columns, 0, 0});
  for (const RowRange& wanted : contents.rows.ranges) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::size_t begin = begin_of(i, part);
      const RowRange run{at, at + begin_of(i, part + 1) - begin};
      at = run.end;
      if (!run.meets(wanted)) continue;
      slices.push_back({&pieces_[i].columns, begin + std::max(run.begin, wanted.begin) - run.begin,
                        begin + std::min(run.end, wanted.end) - run.begin});
    }
  }
  return slices;
}

Split SplitAssembly::part(const std::shared_ptr<SplitAssembly>& split, std::size_t part) {
  Split made{.id = split->id_,
             .part = static_cast<std::uint32_t>(part),
             .parts = static_cast<std::uint32_t>(split->parts()),
             .assembly = split};
  std::vector<const Split*> pieces;
  for (std::size_t i = 0; i < split->pieces_.size(); ++i) {
    if (split->needs(i)) pieces.push_back(&split->pieces_[i]);
  }
  for (std::size_t stage = 0; stage < pieces.front()->times.stages.size(); ++stage) {
    made.times.stages.push_back(union_of(pieces, stage));
  }
  made.share = split->share_;
  if (made.share != nullptr) made.partial = split->contents_of(part).rows;
  if (part > 0) return made;
  for (const Split* piece : pieces) {
    made.bad.insert(made.bad.end(), piece->bad.begin(), piece->bad.end());
    made.filtered += piece->filtered;
    made.sampled += piece->sampled;
    made.repeats.resize(piece->repeats.size());
    for (std::size_t i = 0; i < made.repeats.size(); ++i) made.repeats[i] += piece->repeats[i];
  }
  return made;
}

ColumnSet SplitAssembly::columns_of(std::size_t part, bool permuted, BufferPool& pool) const {
  const Contents contents = contents_of(part);
  const std::vector<RowSlice> slices = slices_of(part, contents);
  if (!permuted) return join_rows(slices, pool);
  return permute_sections(slices, contents.sections, mix64(id_.row_key, part), pool);
}

RowDeal SplitAssembly::deal_of(std::size_t piece) const {
  return {.runs = parts_, .key = mix64(id_.row_key ^ kPiecesDomain, piece)};
}

}  // namespace forebay
