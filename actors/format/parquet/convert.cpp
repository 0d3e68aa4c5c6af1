#include "actors/format/parquet/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "actors/format/csv/decimal.h"
#include "actors/format/half_float.h"
#include "core/data/column_set.h"

namespace forebay::parquet {
namespace {

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Comparing bits instead of floats lets the compiler vectorise the loops over these.

/// The same number; every NaN becomes the one of kNanBits.
float canonical(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7fffffff) > 0x7f800000 ? kNanBits : bits);
}

double canonical(double value) { return value; }

/// A double as the number that a column holds.
template <class Out>
Out number(double value) {
  return canonical(static_cast<Out>(value));
}

/// Applies `to` to each value, stored as a T.
template <class T, class Out, class To>
void each(const RawValues& raw, std::size_t count, Out* out, const To& to) {
  for (std::size_t i = 0; i < count; ++i) out[i] = to(load<T>(raw.fixed + i * sizeof(T)));
}

/// Reads integers as the leaf stores them: 32 or 64 bits, with a sign or without.
template <class Out, class To>
void each_integer(const Leaf& leaf, const RawValues& raw, std::size_t count, Out* out,
                  const To& to) {
  const bool is_signed = leaf.meaning != Meaning::kUnsigned;
  if (leaf.physical == Physical::kInt32) {
    if (is_signed) return each<std::int32_t>(raw, count, out, to);
    return each<std::uint32_t>(raw, count, out, to);
  }
  if (is_signed) return each<std::int64_t>(raw, count, out, to);
  each<std::uint64_t>(raw, count, out, to);
}

/// A number of any size in two's complement, the highest byte first.
double big_endian(std::string_view bytes) {
  double value = bytes.empty() ? 0 : static_cast<signed char>(bytes[0]);
  for (const char byte : bytes.substr(bytes.empty() ? 0 : 1))
    value = value * 256 + static_cast<std::uint8_t>(byte);
  return value;
}

/// Nanoseconds of the day and the day's Julian number, as Spark and Impala store times.
double int96_seconds(const char* at) {
  constexpr std::int64_t kJulianDayOf1970 = 2'440'588;
  const std::int64_t day = load<std::int32_t>(at + 8) - kJulianDayOf1970;
  return static_cast<double>(day) * 86'400 + static_cast<double>(load<std::int64_t>(at)) / 1e9;
}

std::string_view bytes_of(const Leaf& leaf, const RawValues& raw, std::size_t i) {
  if (leaf.physical == Physical::kByteArray) return raw.texts[i];
  return {raw.fixed + i * leaf.bytes, leaf.bytes};
}

template <class Out>
void decimals(const Leaf& leaf, const RawValues& raw, std::size_t count, Out* out) {
  const double unit = std::pow(10.0, leaf.scale);
  if (leaf.physical == Physical::kInt32 || leaf.physical == Physical::kInt64) {
    return each_integer(leaf, raw, count, out, [unit](auto value) {
      return number<Out>(static_cast<double>(value) / unit);
    });
  }
  for (std::size_t i = 0; i < count; ++i)
    out[i] = number<Out>(big_endian(bytes_of(leaf, raw, i)) / unit);
}

template <class Out>
void floats(const Leaf& leaf, const RawValues& raw, std::size_t count, Out* out) {
  if (leaf.physical == Physical::kFixedBytes)
    return each<std::uint16_t>(raw, count, out, float_of_half);
  if (leaf.physical == Physical::kDouble) return each<double>(raw, count, out, number<Out>);
  each<float>(raw, count, out, [](float value) { return Out{canonical(value)}; });
}

template <class Out>
void to_numbers(const Leaf& leaf, const RawValues& raw, std::size_t count, Out* out) {
  const auto seconds = [unit = static_cast<double>(leaf.per_second)](auto value) {
    return number<Out>(static_cast<double>(value) / unit);
  };
  const auto as_float = [](auto value) { return static_cast<Out>(value); };
  switch (leaf.meaning) {
    case Meaning::kBoolean:
      return each<std::uint8_t>(raw, count, out, as_float);
    case Meaning::kFloat:
      return floats(leaf, raw, count, out);
    case Meaning::kDecimal:
      return decimals(leaf, raw, count, out);
    case Meaning::kTimestamp:
      if (leaf.physical != Physical::kInt96) return each_integer(leaf, raw, count, out, seconds);
      for (std::size_t i = 0; i < count; ++i)
        out[i] = number<Out>(int96_seconds(raw.fixed + i * 12));
      return;
    default:
      return each_integer(leaf, raw, count, out, as_float);
  }
}

}  // namespace

std::string why_not_dense(const Leaf& leaf) {
  if (leaf.is_list() && leaf.list_size == 0) return leaf.type;
  if (leaf.meaning == Meaning::kText) return leaf.type + " (text)";
  return leaf.meaning == Meaning::kOther ? leaf.type : "";
}

std::string why_not_sparse(const Leaf& leaf) {
  if (leaf.meaning == Meaning::kNull) return "";
  if (leaf.physical == Physical::kInt96) return leaf.type;
  if (leaf.meaning == Meaning::kDecimal) return leaf.type + " (decimal)";
  return leaf.meaning == Meaning::kFloat || leaf.meaning == Meaning::kOther ? leaf.type : "";
}

void to_floats(const Leaf& leaf, const RawValues& raw, std::size_t count, float* out) {
  to_numbers(leaf, raw, count, out);
}

void to_doubles(const Leaf& leaf, const RawValues& raw, std::size_t count, double* out) {
  to_numbers(leaf, raw, count, out);
}

void to_ids(const Leaf& leaf, const RawValues& raw, std::size_t count, std::int64_t* out) {
  const auto as_id = [](auto value) { return static_cast<std::int64_t>(value); };
  if (leaf.meaning == Meaning::kText) {
    for (std::size_t i = 0; i < count; ++i) out[i] = id_of(bytes_of(leaf, raw, i));
    return;
  }
  if (leaf.meaning == Meaning::kBoolean) return each<std::uint8_t>(raw, count, out, as_id);
  each_integer(leaf, raw, count, out, as_id);
}

}  // namespace forebay::parquet
