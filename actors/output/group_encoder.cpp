#include "actors/output/group_encoder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/data/column_set.h"

namespace forebay::parquet {
namespace {

using Type = OutputColumn::Type;
using Repeat = OutputColumn::Repeat;

Type id_type(std::int64_t bound) {
  if (bound <= 0 || bound > std::int64_t{1} << 32) return Type::kInt64;
  return bound > std::int64_t{1} << 31 ? Type::kUint32 : Type::kInt32;
}

/// Of a type of 32 bits.
std::uint64_t most_of(Type type) { return type == Type::kUint32 ? 0xffffffff : 0x7fffffff; }

/// Writes the lower half of each id; returns the bits that are set in any id.
std::uint64_t narrow(std::span<const std::int64_t> ids, std::vector<std::uint32_t>& out) {
  out.resize(ids.size());
  std::uint32_t* const words = out.data();
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto bits = static_cast<std::uint64_t>(ids[i]);
    any |= bits;
    words[i] = static_cast<std::uint32_t>(bits);
  }
  return any;
}

}  // namespace

std::vector<OutputColumn> columns_of(const Schema& schema, const OutputShape& shape) {
  std::vector<OutputColumn> columns{{shape.label, Type::kInt32, Repeat::kRequired}};
  for (const std::string& name : schema.dense) {
    columns.push_back({name, Type::kFloat, shape.may_lack ? Repeat::kOptional : Repeat::kRequired});
  }
  for (std::size_t i = 0; i < schema.sparse.size(); ++i) {
    columns.push_back({schema.sparse[i].name, id_type(schema.sparse[i].bound),
                       shape.lists[i] ? Repeat::kList : Repeat::kOptional});
  }
  if (schema.weight) columns.push_back({shape.weight, Type::kFloat, Repeat::kRequired});
  for (const ExtraColumn& extra : schema.extra) {
    const bool is_integer = extra.kind == ExtraColumn::Kind::kInt64;
    columns.push_back({extra.name, is_integer ? Type::kInt64 : Type::kDouble, Repeat::kRequired});
  }
  return columns;
}

// The dense columns once more, the row group, and for the largest column its words, levels,
// dictionary and compressed bytes.
std::uint64_t GroupEncoder::peak_bytes(std::uint64_t batch_bytes) {
  constexpr std::uint64_t kCompressor = std::uint64_t{2} << 20;
  constexpr std::uint64_t kTables = std::uint64_t{2} << 20;
  return 4 * batch_bytes + kCompressor + kTables;
}

Result<EncodedGroup> GroupEncoder::encode(const Batch& batch, std::string used) {
  EncodedGroup group;
  group.bytes = std::move(used);
  group.bytes.clear();
  group.rows = batch.rows;
  group.chunks.reserve(columns_.size());
  group.bytes.reserve(batch.bytes() / 2);
  auto column = columns_.begin();
  add_label(batch, group);
  ++column;
  dense_columns(batch, dense_);
  for (std::size_t i = 0; i < batch.dense_features; ++i) {
    add_dense(*column++, std::span(dense_).subspan(i * batch.rows, batch.rows), group);
  }
  for (const SparseRows& rows : sparse_rows(batch)) {
    if (auto status = add_sparse(*column++, rows, group); !status) return pass(status);
  }
  if (batch.weights != nullptr) add_dense(*column++, {batch.weights, batch.rows}, group);
  const auto* extras = reinterpret_cast<const std::uint64_t*>(batch.extras);
  for (std::size_t i = 0; i < batch.extra_columns; ++i) {
    encoder_.add(*column++, {}, std::span(extras + i * batch.rows, batch.rows), group);
  }
  return group;
}

void GroupEncoder::add_label(const Batch& batch, EncodedGroup& group) {
  words_.resize(batch.rows);
  std::transform(batch.labels, batch.labels + batch.rows, words_.begin(),
                 [](float label) { return static_cast<std::uint32_t>(label); });
  encoder_.add(columns_.front(), {}, words_, group);
}

void GroupEncoder::add_dense(const OutputColumn& column, std::span<const float> values,
                             EncodedGroup& group) {
  const auto* bits = reinterpret_cast<const std::uint32_t*>(values.data());
  levels_.repetition.clear();
  levels_.definition.clear();
  if (column.repeat == Repeat::kRequired) {
    return encoder_.add(column, levels_, std::span(bits, values.size()), group);
  }
  // Every value is stored, and the next one over it if it is missing.
  words_.resize(values.size());
  std::uint32_t* const words = words_.data();
  std::size_t present = 0;
  levels_.definition.assign(values.size(), [&](std::size_t row) {
    const std::uint32_t value = bits[row];
    const unsigned level = value == kMissingBits ? 0 : 1;
    words[present] = value;
    present += level;
    return level;
  });
  if (present == values.size()) levels_.definition.clear();
  encoder_.add(column, levels_, std::span(words_).first(present), group);
}

void GroupEncoder::find_levels(const OutputColumn& column, const SparseRows& rows) {
  const std::size_t count = rows.lengths.size();
  levels_.repetition.clear();
  levels_.definition.clear();
  if (column.repeat == Repeat::kList) {
    for (const std::int32_t length : rows.lengths) {
      levels_.definition.push_back(length > 0 ? 1 : 0);
      levels_.repetition.push_back(0);
      for (std::int32_t i = 1; i < length; ++i) {
        levels_.definition.push_back(1);
        levels_.repetition.push_back(1);
      }
    }
  } else if (rows.ids.size() < count) {
    levels_.definition.assign(
        count, [&](std::size_t row) { return static_cast<unsigned>(rows.lengths[row]); });
  }
}

Status GroupEncoder::add_sparse(const OutputColumn& column, const SparseRows& rows,
                                EncodedGroup& group) {
  if (column.repeat != Repeat::kList && rows.longest > 1) {
    return fail(Code::kCorrupt, "column " + column.name + ": a row has more than one id");
  }
  find_levels(column, rows);
  if (column.type == Type::kInt64) {
    const auto* bits = reinterpret_cast<const std::uint64_t*>(rows.ids.data());
    encoder_.add(column, levels_, std::span(bits, rows.ids.size()), group);
    return {};
  }
  if (narrow(rows.ids, words_) > most_of(column.type)) {
    return fail(Code::kCorrupt,
                "column " + column.name + ": an id is not within the bound that its operator gave");
  }
  encoder_.add(column, levels_, words_, group);
  return {};
}

}  // namespace forebay::parquet
