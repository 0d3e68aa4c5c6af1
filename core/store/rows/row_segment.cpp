#include "core/store/rows/row_segment.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/crc32c.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

constexpr std::size_t kMostAtOnce = 4;

constexpr std::array<char, 8> kMagic = {'f', 'b', 'r', 'o', 'w', 's', '0', '1'};

/// The content at the start of the last page; zeros fill the rest.
struct LastPage {
  std::array<char, 8> magic = kMagic;
  std::uint64_t sequence = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t rows = 0;
  std::uint32_t numbers_sum = 0;
  std::uint32_t own_sum = 0;  // Of all fields before it.

  std::uint32_t sum() const {
    return crc32c({reinterpret_cast<const char*>(this), sizeof *this - sizeof own_sum});
  }
};
static_assert(sizeof(LastPage) == 48, "no gaps: it is written as it stands");

std::uint32_t sum_of(const std::vector<std::uint64_t>& numbers) {
  return crc32c({reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8});
}

tl::unexpected<Error> damaged(const std::string& path, const std::string& why) {
  return fail(Code::kCorrupt, path + " " + why);
}

tl::unexpected<Error> unreadable(const std::string& path, std::int64_t reason) {
  return fail(Code::kUnavailable,
              path + " cannot be read (" + std::strerror(static_cast<int>(-reason)) + ")");
}

Result<LastPage> read_last_page(const std::string& path, int file, std::uint64_t size,
                                const RowPageShape& shape) {
  LastPage last;
  if (size < kDirectPage || size % kDirectPage != 0) return damaged(path, "is cut off");
  const std::int64_t read =
      read_piece({file, size - kDirectPage}, reinterpret_cast<char*>(&last), sizeof last);
  if (read < 0) return unreadable(path, read);
  if (read != sizeof last) return damaged(path, "is cut off");
  if (last.magic != kMagic || last.own_sum != last.sum()) {
    return damaged(path, "is damaged or cut off: it does not end as a file of rows");
  }
  if (last.row_bytes != shape.row_bytes || last.page_bytes != shape.page_bytes) {
    return damaged(path, "has rows of another size: " + std::to_string(last.row_bytes) +
                             " bytes, not " + std::to_string(shape.row_bytes));
  }
  // Checked before it is multiplied.
  if (last.rows > size || RowSegment::bytes(shape, last.rows) != size) {
    return damaged(path, "is damaged: it has " + std::to_string(size) + " bytes for " +
                             std::to_string(last.rows) + " rows");
  }
  return last;
}

}  // namespace

RowPageShape::RowPageShape(std::size_t bytes) : row_bytes(bytes), page_bytes(kDirectPage), rows(0) {
  const std::size_t each = row_bytes + sizeof(std::uint64_t);
  for (std::size_t pages = 1; pages <= kMostAtOnce && 4 * rows * each < 3 * page_bytes; ++pages) {
    page_bytes = pages * kDirectPage;
    rows = (page_bytes - sizeof(RowPage::Head)) / each;
  }
  if (rows > 0) return;
  rows = 1;
  page_bytes = whole_pages(sizeof(RowPage::Head) + each);
}

void RowPage::clear() { std::memset(memory_, 0, shape_.page_bytes); }

std::span<std::byte> RowPage::row(std::size_t index) const {
  char* rows = reinterpret_cast<char*>(numbers() + shape_.rows);
  return std::as_writable_bytes(std::span(rows + index * shape_.row_bytes, shape_.row_bytes));
}

std::optional<std::size_t> RowPage::find(std::uint64_t wanted) const {
  for (std::size_t index = 0; index < rows(); ++index) {
    if (number(index) == wanted) return index;
  }
  return std::nullopt;
}

std::span<std::byte> RowPage::add(std::uint64_t number) {
  const std::size_t index = head().rows++;
  numbers()[index] = number;
  return row(index);
}

std::uint32_t RowPage::checksum(std::uint64_t where) const {
  const auto* place = reinterpret_cast<const char*>(&where);
  const auto rest = std::span(memory_, shape_.page_bytes).subspan(offsetof(Head, rows));
  return crc32c(rest, crc32c({place, sizeof where}));
}

bool RowPage::intact(std::uint64_t where) const {
  return head().checksum == checksum(where) && rows() <= shape_.rows;
}

std::uint64_t RowSegment::bytes(const RowPageShape& shape, std::uint64_t rows) {
  return pages(shape, rows) * shape.page_bytes + whole_pages(rows * sizeof(std::uint64_t)) +
         kDirectPage;
}

DirectMemory RowSegment::footer(const RowPageShape& shape) const {
  const std::size_t size = numbers.size() * sizeof(std::uint64_t);
  DirectMemory footer(whole_pages(size) + kDirectPage);
  std::memset(footer.data(), 0, footer.size());
  if (size > 0) std::memcpy(footer.data(), numbers.data(), size);
  LastPage last{.sequence = sequence,
                .row_bytes = shape.row_bytes,
                .page_bytes = shape.page_bytes,
                .rows = numbers.size(),
                .numbers_sum = sum_of(numbers)};
  last.own_sum = last.sum();
  std::memcpy(footer.data() + whole_pages(size), &last, sizeof last);
  return footer;
}

Result<RowSegment> RowSegment::open(const std::string& path, const RowPageShape& shape) {
  const Descriptor file(open_file(path, O_RDONLY));
  struct stat about = {};
  if (!file || ::fstat(file.number(), &about) != 0) {
    return fail(Code::kUnavailable, path + " cannot be opened (" + system_words(errno) + ")");
  }
  const auto size = static_cast<std::uint64_t>(about.st_size);
  auto last = read_last_page(path, file.number(), size, shape);
  if (!last) return pass(last);
  RowSegment segment{last->sequence, std::vector<std::uint64_t>(last->rows)};
  const std::size_t bytes = segment.numbers.size() * sizeof(std::uint64_t);
  const std::int64_t read = read_piece({file.number(), pages(shape, last->rows) * shape.page_bytes},
                                       reinterpret_cast<char*>(segment.numbers.data()), bytes);
  if (read < 0) return unreadable(path, read);
  if (read != static_cast<std::int64_t>(bytes) || sum_of(segment.numbers) != last->numbers_sum) {
    return damaged(path, "is damaged: its rows' numbers have changed");
  }
  return segment;
}

Status check_page(const RowPageShape& shape, const OpenSegment& segment, std::uint64_t number,
                  const ReadPage& page) {
  if (page.bytes < 0) return unreadable(segment.path, page.bytes);
  const bool whole = page.bytes == static_cast<std::int64_t>(shape.page_bytes);
  if (whole && RowPage(shape, page.memory).intact(RowSegment::where(segment.sequence, number))) {
    return {};
  }
  return fail(Code::kCorrupt,
              segment.path + " is damaged: page " + std::to_string(number) + " has changed");
}

Status for_each_page(const RowPageShape& shape, const OpenSegment& segment,
                     const DirectMemory& memory,
                     const std::function<Status(std::uint64_t, const RowPage&)>& visit) {
  const std::size_t page_bytes = shape.page_bytes;
  const std::uint64_t at_once = memory.size() / page_bytes;
  for (std::uint64_t first = 0; first < segment.pages; first += at_once) {
    const std::uint64_t count = std::min(at_once, segment.pages - first);
    std::int64_t left =
        read_piece({segment.file.number(), first * page_bytes}, memory.data(), count * page_bytes);
    for (std::uint64_t page = 0; page < count; ++page) {
      char* at = memory.data() + page * page_bytes;
      const std::int64_t bytes =
          left < 0 ? left : std::min(left, static_cast<std::int64_t>(page_bytes));
      if (left > 0) left -= bytes;
      if (auto good = check_page(shape, segment, first + page, {at, bytes}); !good) return good;
      if (auto visited = visit(first + page, RowPage(shape, at)); !visited) return visited;
    }
  }
  return {};
}

}  // namespace forebay
