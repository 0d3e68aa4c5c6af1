#include "actors/format/npy/loaded_unit.h"

#include <cstring>

#include "actors/format/half_float.h"
#include "core/data/column_set.h"

namespace forebay::npy {
namespace {

/// IEEE 754's binary16.
struct Half {
  std::uint16_t bits = 0;
};
/// NumPy's bool: a byte.
struct Boolean {
  std::uint8_t byte = 0;
};

double number_of(Half half) { return float_of_half(half.bits); }
double number_of(Boolean boolean) { return boolean.byte != 0 ? 1 : 0; }
/// An int8 is a number here, and no character: clang-tidy takes it for one unless it is an int.
int number_of(std::int8_t number) { return number; }
template <class Number>
Number number_of(Number number) {
  return number;
}

template <class Value>
auto load(const char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return number_of(value);
}

template <class Small, class Two, class Four, class Eight, class Visitor>
void with_size(std::uint8_t bytes, const Visitor& visit) {
  switch (bytes) {
    case 1:
      return visit(Small{});
    case 2:
      return visit(Two{});
    case 4:
      return visit(Four{});
    default:
      return visit(Eight{});
  }
}

/// Calls `visit` with a value of the type.
template <class Visitor>
void with_integer(const ElementType& type, const Visitor& visit) {
  if (type.kind == ElementType::Kind::kBoolean) return visit(Boolean{});
  if (type.kind == ElementType::Kind::kUnsigned) {
    return with_size<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(type.bytes, visit);
  }
  with_size<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(type.bytes, visit);
}
template <class Visitor>
void with_number(const ElementType& type, const Visitor& visit) {
  if (!type.is_float()) return with_integer(type, visit);
  with_size<Half, Half, float, double>(type.bytes, visit);
}

template <class Value, class To, class Convert>
void copy_each(const LoadedColumn& column, const RowList& rows, To* out, const Convert& convert) {
  if (rows.all) {
    const char* from = column.row(rows.first);
    const std::size_t stride = column.place.row_stride;
    for (std::size_t i = 0; i < rows.count; ++i) out[i] = convert(load<Value>(from + i * stride));
    return;
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    out[i] = convert(load<Value>(column.row(rows.first + rows.numbers[i])));
  }
}

/// Ids that lie together are one run; the compiler can then widen many at once.
template <class Value>
void copy_lists(const LoadedColumn& column, const RowList& rows, std::int64_t* out) {
  const ColumnPlace& place = column.place;
  const std::size_t bytes = sizeof(Value);
  if (rows.all && place.item_stride == bytes && place.row_stride == place.items * bytes) {
    const char* from = column.row(rows.first);
    const std::size_t count = rows.count * place.items;
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = static_cast<std::int64_t>(load<Value>(from + i * bytes));
    }
    return;
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    const char* from = column.row(rows.first + (rows.all ? i : rows.numbers[i]));
    for (std::size_t item = 0; item < place.items; ++item, from += place.item_stride) {
      *out++ = static_cast<std::int64_t>(load<Value>(from));
    }
  }
}

bool lies_inside(const ColumnPlace& place, std::uint64_t bytes, std::uint32_t rows) {
  if (!place.type.is_sound() || rows == 0) return false;
  if (place.items == 0) return true;
  // No product overflows: each factor has 32 bits.
  const std::uint64_t last_row = std::uint64_t{rows - 1} * place.row_stride;
  const std::uint64_t last_item = std::uint64_t{place.items - 1} * place.item_stride;
  for (const std::uint64_t part :
       {place.at, last_row, last_item, std::uint64_t{place.type.bytes}}) {
    if (part > bytes) return false;
    bytes -= part;
  }
  return true;
}

}  // namespace

std::optional<std::vector<LoadedColumn>> columns_of(std::span<const char> bytes,
                                                    std::size_t columns, std::uint32_t rows) {
  const std::size_t head = columns * sizeof(ColumnPlace);
  if (bytes.size() < head) return std::nullopt;
  std::vector<LoadedColumn> found(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    ColumnPlace& place = found[i].place;
    std::memcpy(&place, bytes.data() + i * sizeof place, sizeof place);
    if (!lies_inside(place, bytes.size() - head, rows)) return std::nullopt;
    if (place.items > 0) found[i].first = bytes.data() + head + place.at;
  }
  return found;
}

void copy_floats(const LoadedColumn& column, const RowList& rows, float* out) {
  const float missing = missing_value();
  with_number(column.place.type, [&](auto value) {
    copy_each<decltype(value)>(column, rows, out, [missing](auto number) {
      const auto narrow = static_cast<float>(number);
      return narrow != narrow ? missing : narrow;
    });
  });
}

void copy_doubles(const LoadedColumn& column, const RowList& rows, double* out) {
  with_number(column.place.type, [&](auto value) {
    copy_each<decltype(value)>(column, rows, out,
                               [](auto number) { return static_cast<double>(number); });
  });
}

void copy_ids(const LoadedColumn& column, const RowList& rows, std::int64_t* out) {
  with_integer(column.place.type, [&](auto value) {
    using Value = decltype(value);
    if (column.place.items != 1) return copy_lists<Value>(column, rows, out);
    copy_each<Value>(column, rows, out,
                     [](auto number) { return static_cast<std::int64_t>(number); });
  });
}

}  // namespace forebay::npy
