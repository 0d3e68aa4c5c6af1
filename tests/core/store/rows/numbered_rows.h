#pragma once

#include <cstring>
#include <map>
#include <numeric>
#include <vector>

#include "core/store/rows/row_log.h"

namespace forebay::test {

/// The values of rows, by number.
using RowModel = std::map<std::uint64_t, std::uint64_t>;

inline std::vector<std::uint64_t> numbers_of(const RowModel& rows) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, value] : rows) numbers.push_back(number);
  return numbers;
}

inline std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

/// The value stands at both ends of the row, the number between them.
inline void fill_row(std::uint64_t number, std::uint64_t value, std::span<std::byte> row) {
  std::memset(row.data(), static_cast<int>(number % 251), row.size());
  std::memcpy(row.data(), &value, sizeof value);
  std::memcpy(row.data() + row.size() - sizeof value, &value, sizeof value);
}

/// The value of an undamaged row; otherwise a value that is never written.
inline std::uint64_t value_in(std::uint64_t number, std::span<const std::byte> row) {
  std::uint64_t value = 0;
  std::memcpy(&value, row.data(), sizeof value);
  std::vector<std::byte> want(row.size());
  fill_row(number, value, want);
  return std::memcmp(want.data(), row.data(), row.size()) == 0 ? value : ~std::uint64_t{0};
}

inline Status write_rows(RowLog& log, const RowModel& rows) {
  const auto numbers = numbers_of(rows);
  return log.write(numbers, [&](std::size_t place, std::span<std::byte> row) {
    fill_row(numbers[place], rows.at(numbers[place]), row);
  });
}

inline Status write_rows(RowLog& log, const std::vector<std::uint64_t>& numbers,
                         std::uint64_t value) {
  return log.write(numbers, [&](std::size_t place, std::span<std::byte> row) {
    fill_row(numbers[place], value, row);
  });
}

inline Result<RowModel> read_rows(RowLog& log, const std::vector<std::uint64_t>& numbers) {
  std::vector<std::uint64_t> values(numbers.size(), ~std::uint64_t{1});
  auto read = log.read(numbers, [&](std::size_t place, std::span<const std::byte> row) {
    values[place] = value_in(numbers[place], row);
  });
  if (!read) return pass(read);
  RowModel found;
  for (std::size_t i = 0; i < numbers.size(); ++i) found[numbers[i]] = values[i];
  return found;
}

}  // namespace forebay::test
