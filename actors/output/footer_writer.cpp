#include "actors/output/footer_writer.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "actors/format/parquet/leaf.h"
#include "actors/output/thrift_writer.h"

namespace forebay::parquet {
namespace {

// Numbers of parquet.thrift.
constexpr std::int32_t kRequired = 0;
constexpr std::int32_t kOptional = 1;
constexpr std::int32_t kRepeated = 2;
constexpr std::int32_t kTextType = 0;     // ConvertedType UTF8
constexpr std::int32_t kListType = 3;     // ConvertedType LIST
constexpr std::int32_t kUint32Type = 13;  // ConvertedType UINT_32

SchemaElement element_of(const OutputColumn& column) {
  SchemaElement element;
  element.name = column.name;
  element.repetition = column.repeat == OutputColumn::Repeat::kOptional ? kOptional : kRequired;
  switch (column.type) {
    case OutputColumn::Type::kUint32:
      element.converted_type = kUint32Type;
      [[fallthrough]];
    case OutputColumn::Type::kInt32:
      element.type = static_cast<std::int32_t>(Physical::kInt32);
      break;
    case OutputColumn::Type::kInt64:
      element.type = static_cast<std::int32_t>(Physical::kInt64);
      break;
    case OutputColumn::Type::kFloat:
      element.type = static_cast<std::int32_t>(Physical::kFloat);
      break;
    case OutputColumn::Type::kDouble:
      element.type = static_cast<std::int32_t>(Physical::kDouble);
      break;
    case OutputColumn::Type::kText:
      element.type = static_cast<std::int32_t>(Physical::kByteArray);
      element.converted_type = kTextType;
      break;
  }
  return element;
}

SchemaElement group_of(std::string name, std::optional<std::int32_t> repetition,
                       std::size_t children) {
  SchemaElement element;
  element.name = std::move(name);
  element.repetition = repetition;
  element.children = static_cast<std::int32_t>(children);
  return element;
}

void add_list(const OutputColumn& column, std::vector<SchemaElement>& schema) {
  SchemaElement list = group_of(column.name, kRequired, 1);
  list.converted_type = kListType;
  list.logical_type.emplace().list.emplace();
  schema.push_back(std::move(list));
  schema.push_back(group_of("list", kRepeated, 1));
  schema.push_back(element_of(column));
  schema.back().name = "element";
}

}  // namespace

FooterWriter::FooterWriter(const std::vector<OutputColumn>& columns) {
  file_.version = 2;
  file_.created_by = "forebay";
  file_.schema.push_back(group_of("schema", std::nullopt, columns.size()));
  for (const OutputColumn& column : columns) {
    if (column.repeat == OutputColumn::Repeat::kList) {
      add_list(column, file_.schema);
    } else {
      file_.schema.push_back(element_of(column));
    }
  }
}

void FooterWriter::add(EncodedGroup group, std::uint64_t offset) {
  const auto begin = static_cast<std::int64_t>(offset);
  RowGroup& row_group = file_.row_groups.emplace_back();
  row_group.rows = static_cast<std::int64_t>(group.rows);
  file_.rows += row_group.rows;
  for (EncodedGroup::Chunk& chunk : group.chunks) {
    ColumnMetaData& meta = chunk.meta;
    meta.data_page_offset += begin;
    if (meta.dictionary_page_offset) *meta.dictionary_page_offset += begin;
    row_group.bytes += meta.uncompressed_bytes;
    chunk.page.offset += begin;
    pages_.push_back(chunk.page);
    row_group.columns.emplace_back().meta_data = std::move(meta);
  }
}

std::string FooterWriter::finish(std::uint64_t offset) {
  std::string out;
  std::size_t next = 0;
  for (RowGroup& group : file_.row_groups) {
    for (ColumnChunk& chunk : group.columns) {
      const std::size_t before = out.size();
      ThriftWriter(out).write(OffsetIndex{{pages_[next++]}});
      chunk.offset_index_offset = static_cast<std::int64_t>(offset + before);
      chunk.offset_index_bytes = static_cast<std::int32_t>(out.size() - before);
    }
  }
  const std::size_t before = out.size();
  ThriftWriter(out).write(file_);
  const auto size = static_cast<std::uint32_t>(out.size() - before);
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(size >> shift));
  out += kMagic;
  return out;
}

}  // namespace forebay::parquet
