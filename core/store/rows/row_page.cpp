#include "core/store/rows/row_page.h"

#include <cstring>

#include "core/base/crc32c.h"

namespace forebay {
namespace {

constexpr std::size_t kDisk = 4096;  // The unit in which disks read.
constexpr std::size_t kMostAtOnce = 4;
constexpr std::size_t kHead = 2 * sizeof(std::uint32_t);

}  // namespace

RowPageShape::RowPageShape(std::size_t bytes) : row_bytes(bytes), page_bytes(kDisk), rows(0) {
  const std::size_t each = row_bytes + sizeof(std::uint64_t);
  for (std::size_t pages = 1; pages <= kMostAtOnce && 4 * rows * each < 3 * page_bytes; ++pages) {
    page_bytes = pages * kDisk;
    rows = (page_bytes - kHead) / each;
  }
  if (rows > 0) return;
  rows = 1;
  page_bytes = (kHead + each + kDisk - 1) / kDisk * kDisk;
}

void RowPage::clear() { std::memset(memory_, 0, shape_.page_bytes); }

std::size_t RowPage::rows() const {
  std::uint32_t rows = 0;
  std::memcpy(&rows, memory_ + sizeof(std::uint32_t), sizeof rows);
  return rows;
}

std::uint64_t RowPage::number(std::size_t index) const {
  std::uint64_t number = 0;
  std::memcpy(&number, numbers() + index * sizeof number, sizeof number);
  return number;
}

std::span<std::byte> RowPage::row(std::size_t index) const {
  char* rows = numbers() + shape_.rows * sizeof(std::uint64_t);
  return std::as_writable_bytes(std::span(rows + index * shape_.row_bytes, shape_.row_bytes));
}

std::optional<std::size_t> RowPage::find(std::uint64_t wanted) const {
  for (std::size_t index = 0; index < rows(); ++index) {
    if (number(index) == wanted) return index;
  }
  return std::nullopt;
}

std::span<std::byte> RowPage::add(std::uint64_t number) {
  const auto index = static_cast<std::uint32_t>(rows());
  const std::uint32_t rows = index + 1;
  std::memcpy(memory_ + sizeof(std::uint32_t), &rows, sizeof rows);
  std::memcpy(numbers() + index * sizeof number, &number, sizeof number);
  return row(index);
}

std::uint32_t RowPage::checksum(std::uint64_t where) const {
  const auto* place = reinterpret_cast<const char*>(&where);
  const auto rest = std::span(memory_, shape_.page_bytes).subspan(sizeof(std::uint32_t));
  return crc32c(rest, crc32c({place, sizeof where}));
}

void RowPage::seal(std::uint64_t where) {
  const std::uint32_t sum = checksum(where);
  std::memcpy(memory_, &sum, sizeof sum);
}

bool RowPage::intact(std::uint64_t where) const {
  std::uint32_t sum = 0;
  std::memcpy(&sum, memory_, sizeof sum);
  return sum == checksum(where) && rows() <= shape_.rows;
}

}  // namespace forebay
