#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "actors/format/parquet/thrift_reader.h"

namespace forebay::parquet {

// The structs of parquet.thrift (apache/parquet-format 2.11), with the fields that a reader of
// values needs. Numbers are as they stand in the file: unchecked.

struct EmptyStruct {
  static auto fields(auto&) { return std::make_tuple(); }
};

struct DecimalType {
  std::int32_t scale = 0;
  std::int32_t precision = 0;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.scale), thrift_field(2, self.precision));
  }
};

struct TimeUnit {
  std::optional<EmptyStruct> millis, micros, nanos;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.millis), thrift_field(2, self.micros),
                           thrift_field(3, self.nanos));
  }
};

/// The TimeType and the TimestampType.
struct TimeType {
  bool is_utc = false;
  TimeUnit unit;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.is_utc), thrift_field(2, self.unit));
  }
};

struct IntType {
  std::int32_t bits = 0;
  bool is_signed = false;
  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.bits), thrift_field(2, self.is_signed));
  }
};

/// A union: one member is set, or none when the type is newer than this reader.
struct LogicalType {
  std::optional<EmptyStruct> string, map, list, enumeration, date, unknown, json, bson, uuid,
      float16;
  std::optional<DecimalType> decimal;
  std::optional<TimeType> time, timestamp;
  std::optional<IntType> integer;

  static auto fields(auto& self) {
    return std::make_tuple(
        thrift_field(1, self.string), thrift_field(2, self.map), thrift_field(3, self.list),
        thrift_field(4, self.enumeration), thrift_field(5, self.decimal),
        thrift_field(6, self.date), thrift_field(7, self.time), thrift_field(8, self.timestamp),
        thrift_field(10, self.integer), thrift_field(11, self.unknown), thrift_field(12, self.json),
        thrift_field(13, self.bson), thrift_field(14, self.uuid), thrift_field(15, self.float16));
  }
};

struct SchemaElement {
  std::optional<std::int32_t> type, type_length, repetition, children, converted_type, scale,
      precision;
  std::string name;
  std::optional<LogicalType> logical_type;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.type), thrift_field(2, self.type_length),
                           thrift_field(3, self.repetition), thrift_field(4, self.name),
                           thrift_field(5, self.children), thrift_field(6, self.converted_type),
                           thrift_field(7, self.scale), thrift_field(8, self.precision),
                           thrift_field(10, self.logical_type));
  }
};

struct ColumnMetaData {
  std::int32_t type = 0;
  std::vector<std::int32_t> encodings;
  std::vector<std::string> path;
  std::int32_t codec = 0;
  std::int64_t num_values = 0;
  std::int64_t uncompressed_bytes = 0;
  std::int64_t compressed_bytes = 0;
  std::int64_t data_page_offset = 0;
  std::optional<std::int64_t> dictionary_page_offset;

  static auto fields(auto& self) {
    return std::make_tuple(
        thrift_field(1, self.type), thrift_field(2, self.encodings), thrift_field(3, self.path),
        thrift_field(4, self.codec), thrift_field(5, self.num_values),
        thrift_field(6, self.uncompressed_bytes), thrift_field(7, self.compressed_bytes),
        thrift_field(9, self.data_page_offset), thrift_field(11, self.dictionary_page_offset));
  }
};

struct ColumnChunk {
  std::optional<std::string> file_path;
  std::int64_t file_offset = 0;
  std::optional<ColumnMetaData> meta_data;
  std::optional<std::int64_t> offset_index_offset;
  std::optional<std::int32_t> offset_index_bytes;
  std::optional<EmptyStruct> encryption;

  static auto fields(auto& self) {
    return std::make_tuple(
        thrift_field(1, self.file_path), thrift_field(2, self.file_offset),
        thrift_field(3, self.meta_data), thrift_field(4, self.offset_index_offset),
        thrift_field(5, self.offset_index_bytes), thrift_field(8, self.encryption));
  }
};

struct RowGroup {
  std::vector<ColumnChunk> columns;
  std::int64_t bytes = 0;
  std::int64_t rows = 0;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.columns), thrift_field(2, self.bytes),
                           thrift_field(3, self.rows));
  }
};

struct KeyValue {
  std::string key;
  std::optional<std::string> value;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.key), thrift_field(2, self.value));
  }
};

struct FileMetaData {
  std::int32_t version = 0;
  std::vector<SchemaElement> schema;
  std::int64_t rows = 0;
  std::vector<RowGroup> row_groups;
  std::optional<std::vector<KeyValue>> key_values;
  std::optional<std::string> created_by;
  std::optional<EmptyStruct> encryption;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.version), thrift_field(2, self.schema),
                           thrift_field(3, self.rows), thrift_field(4, self.row_groups),
                           thrift_field(5, self.key_values), thrift_field(6, self.created_by),
                           thrift_field(8, self.encryption));
  }
};

struct DataPageHeader {
  std::int32_t num_values = 0;
  std::int32_t encoding = 0;
  std::int32_t definition_encoding = 0;
  std::int32_t repetition_encoding = 0;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.num_values), thrift_field(2, self.encoding),
                           thrift_field(3, self.definition_encoding),
                           thrift_field(4, self.repetition_encoding));
  }
};

struct DictionaryPageHeader {
  std::int32_t num_values = 0;
  std::int32_t encoding = 0;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.num_values), thrift_field(2, self.encoding));
  }
};

struct DataPageHeaderV2 {
  std::int32_t num_values = 0;
  std::int32_t num_nulls = 0;
  std::int32_t num_rows = 0;
  std::int32_t encoding = 0;
  std::int32_t definition_bytes = 0;
  std::int32_t repetition_bytes = 0;
  std::optional<bool> is_compressed;  ///< Absent: yes.

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.num_values), thrift_field(2, self.num_nulls),
                           thrift_field(3, self.num_rows), thrift_field(4, self.encoding),
                           thrift_field(5, self.definition_bytes),
                           thrift_field(6, self.repetition_bytes),
                           thrift_field(7, self.is_compressed));
  }
};

struct PageHeader {
  std::int32_t type = 0;
  std::int32_t uncompressed_bytes = 0;
  std::int32_t compressed_bytes = 0;
  std::optional<std::int32_t> crc;
  std::optional<DataPageHeader> data;
  std::optional<DictionaryPageHeader> dictionary;
  std::optional<DataPageHeaderV2> data_v2;

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.type), thrift_field(2, self.uncompressed_bytes),
                           thrift_field(3, self.compressed_bytes), thrift_field(4, self.crc),
                           thrift_field(5, self.data), thrift_field(7, self.dictionary),
                           thrift_field(8, self.data_v2));
  }
};

struct PageLocation {
  std::int64_t offset = 0;
  std::int32_t compressed_bytes = 0;  ///< Its header included.
  std::int64_t first_row = 0;         ///< Its number in the row group.

  static auto fields(auto& self) {
    return std::make_tuple(thrift_field(1, self.offset), thrift_field(2, self.compressed_bytes),
                           thrift_field(3, self.first_row));
  }
};

struct OffsetIndex {
  std::vector<PageLocation> pages;
  static auto fields(auto& self) { return std::make_tuple(thrift_field(1, self.pages)); }
};

}  // namespace forebay::parquet
