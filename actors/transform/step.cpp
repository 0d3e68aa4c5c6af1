#include "actors/transform/step.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

/// Bytes that a BufferPool reserves for `buffers` buffers of `bytes` in all: at most an eighth
/// more, and a page each.
std::size_t reserved(std::size_t bytes, std::size_t buffers = 1) {
  const std::size_t padded = bytes + buffers * Buffer::kPadding;
  return padded + padded / 8 + buffers * 4096;
}

SparseColumn copy_of(StepRun& run, const SparseColumn& source) {
  const std::size_t rows = run.columns.rows;
  const std::size_t count = source.count(rows);
  SparseColumn copy = hold_sparse(run, count);
  std::memcpy(copy.values, source.values, count * sizeof(std::int64_t));
  if (source.offsets == nullptr) {
    copy.offsets = nullptr;
  } else {
    std::memcpy(copy.offsets, source.offsets, (rows + 1) * sizeof(std::int32_t));
  }
  return copy;
}

}  // namespace

SizeBound::SizeBound(std::size_t rows, std::size_t decoded_bytes, std::size_t decoded,
                     std::size_t slots)
    : rows_(rows),
      decoded_ids_(decoded_bytes / sizeof(std::int64_t)),
      held_(decoded_bytes),
      peak_(decoded_bytes),
      sparse_(slots) {
  for (std::size_t i = 0; i < decoded; ++i) sparse_[i].decoded = i;
}

std::size_t SizeBound::ids(std::span<const std::size_t> sparse) const {
  std::size_t others = 0;
  std::map<std::size_t, std::size_t> uses;  // of each decoded column
  std::size_t most_uses = 0;
  for (const std::size_t index : sparse) {
    const Lists& lists = sparse_[index];
    others += lists.others;
    if (lists.decoded) most_uses = std::max(most_uses, ++uses[*lists.decoded]);
  }
  return others + most_uses * decoded_ids_;
}

void SizeBound::hold(std::size_t bytes) {
  held_ += reserved(bytes);
  peak_ = std::max(peak_, held_);
}

void SizeBound::borrow(std::size_t bytes) { peak_ = std::max(peak_, held_ + reserved(bytes)); }

void SizeBound::hold_sparse(std::size_t index, std::size_t ids, std::size_t longest) {
  put_column(sparse_, index, {ids, std::nullopt, longest});
  hold(ids * sizeof(std::int64_t) + Buffer::kPadding + (rows_ + 1) * sizeof(std::int32_t));
}

void SizeBound::cut(std::size_t index, std::size_t longest) {
  if (!follows_cuts_ || longest > kAnyLength / std::max<std::size_t>(rows_, 1)) return;
  Lists& lists = sparse_[index];
  lists.longest = std::min(lists.longest, longest);
  const std::size_t before = lists.others + (lists.decoded ? decoded_ids_ : 0);
  if (rows_ * longest < before) lists = {rows_ * longest, std::nullopt, lists.longest};
}

void SizeBound::hold_copies(std::span<const ColumnTarget> copies, std::size_t more) {
  std::vector<std::size_t> sources;
  for (const ColumnTarget& copy : copies) sources.push_back(copy.from);
  const std::size_t total = ids(sources) + copies.size() * rows_ * more;
  const std::size_t beside = Buffer::kPadding + (rows_ + 1) * sizeof(std::int32_t);
  held_ += reserved(total * sizeof(std::int64_t) + copies.size() * beside, copies.size());
  peak_ = std::max(peak_, held_);
  for (const ColumnTarget& copy : copies) {
    Lists lists = sparse_[copy.from];
    lists.others += rows_ * more;
    if (lists.longest != kAnyLength) lists.longest += more;
    put_column(sparse_, copy.to, lists);
  }
}

void SizeBound::hold_target(ColumnKind kind, const ColumnTarget& target) {
  if (target.from == target.to) return;
  if (kind == ColumnKind::kDense) return hold_dense();
  hold_copies({&target, 1}, 0);
}

StepFacts facts_of(ColumnKind kind, const ColumnTarget& target) {
  return {.reads = {{kind, target.from}},
          .writes = {{kind, target.to}},
          .inflates = target.from != target.to};
}

bool StepRun::is_cancelled() const {
  return context.actor != nullptr && context.actor->cancelled && context.actor->cancelled();
}

Status StepRun::cancelled() { return fail(Code::kUnavailable, "stopped"); }

namespace {

std::string file_name(const TransformContext& context, std::uint32_t file) {
  return file < context.files.size() ? context.files[file] : "file " + std::to_string(file);
}

/// `rows` is "row" or "rows", `bytes` "byte" or "bytes".
std::string place_of(const TransformContext& context, const std::string& rows,
                     const std::string& bytes, const std::string& offsets) {
  return context.numbers_rows ? rows + " " + offsets + " (from 0)"
                              : rows + " at " + bytes + " " + offsets;
}

}  // namespace

std::string StepRun::row_name(std::size_t row) const {
  if (columns.origins == nullptr || row >= columns.rows) {
    return "row " + std::to_string(row) + " of a split";
  }
  const RowOrigin origin = columns.origins[row];
  return file_name(context, origin.file()) + ", " +
         place_of(context, "row", "byte", std::to_string(origin.offset()));
}

// Rows of a split come from all over the dataset: the range is that of the first row's file.
std::string StepRun::rows_name(std::size_t first, std::size_t count) const {
  if (count == 1 || columns.origins == nullptr) return row_name(first);
  const auto rows = std::span(columns.origins + first, count);
  const std::uint32_t file = rows.front().file();
  std::uint64_t low = rows.front().offset();
  std::uint64_t high = low;
  std::set<std::uint32_t> others;
  for (const RowOrigin& row : rows) {
    if (row.file() != file) {
      others.insert(row.file());
      continue;
    }
    low = std::min(low, row.offset());
    high = std::max(high, row.offset());
  }
  const std::string offsets = std::to_string(low) + " to " + std::to_string(high);
  return file_name(context, file) + ", " + place_of(context, "rows", "bytes", offsets) +
         (others.empty() ? "" : ", and rows of " + std::to_string(others.size()) + " other files");
}

float* hold_dense(StepRun& run) {
  run.columns.slabs.push_back(run.context.pool.take(run.columns.rows * sizeof(float)));
  return run.columns.slabs.back().as<float>();
}

SparseColumn hold_sparse(StepRun& run, std::size_t ids) {
  const std::size_t values_bytes =
      (ids * sizeof(std::int64_t) + Buffer::kPadding - 1) / Buffer::kPadding * Buffer::kPadding;
  const std::size_t offsets_bytes = (run.columns.rows + 1) * sizeof(std::int32_t);
  run.columns.slabs.push_back(run.context.pool.take(values_bytes + offsets_bytes));
  const Buffer& slab = run.columns.slabs.back();
  SparseColumn column;
  column.values = slab.as<std::int64_t>();
  column.offsets = reinterpret_cast<std::int32_t*>(slab.data() + values_bytes);
  column.offsets[0] = 0;
  return column;
}

float* dense_target(StepRun& run, const ColumnTarget& target) {
  if (target.from == target.to) return run.columns.dense[target.to];
  float* copy = hold_dense(run);
  std::memcpy(copy, run.columns.dense[target.from], run.columns.rows * sizeof(float));
  put_column(run.columns.dense, target.to, copy);
  return copy;
}

SparseColumn& sparse_target(StepRun& run, const ColumnTarget& target) {
  if (target.from != target.to) {
    put_column(run.columns.sparse, target.to, copy_of(run, run.columns.sparse[target.from]));
  }
  return run.columns.sparse[target.to];
}

}  // namespace forebay
