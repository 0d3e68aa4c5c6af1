#include "actors/format/parquet/grain_cut.h"

#include <algorithm>
#include <utility>

namespace forebay::parquet {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGrainBytes = kMiB;
constexpr std::uint64_t kGrainDecoded = 4 * kMiB;
constexpr std::uint64_t kMostDecoded = 64 * kMiB;
constexpr std::uint64_t kOverhead = 16;  // of the wanted bytes, one part may be read twice

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

std::uint64_t bytes_of(const std::vector<ColumnPages>& columns) {
  std::uint64_t bytes = 0;
  for (const ColumnPages& column : columns) bytes += column.chunk.bytes;
  return bytes;
}

std::uint64_t grains_wanted(const GroupSize& group, const std::vector<ColumnPages>& columns) {
  const std::uint64_t bytes = bytes_of(columns);
  // A remainder of less than half a grain stays with the grain before it.
  return std::max({std::uint64_t{1}, (bytes + kGrainBytes / 2) / kGrainBytes,
                   (group.decoded + kGrainDecoded / 2) / kGrainDecoded});
}

/// A row at which pages begin, and of how many columns.
struct Border {
  std::uint64_t row = 0;
  std::size_t columns = 0;
};

std::vector<Border> borders_of(const GroupSize& group, const std::vector<ColumnPages>& columns) {
  std::vector<std::uint64_t> rows;
  for (const ColumnPages& column : columns) {
    for (const PagePlace& page : column.pages) {
      if (page.first_row > 0 && page.first_row < group.rows) rows.push_back(page.first_row);
    }
  }
  std::ranges::sort(rows);
  std::vector<Border> borders;
  for (const std::uint64_t row : rows) {
    if (borders.empty() || borders.back().row != row) borders.push_back({.row = row});
    ++borders.back().columns;
  }
  return borders;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

/// Whether a grain that should begin at row `ideal` had better begin at `a` than at `b`.
bool is_better(const Border& a, const Border& b, std::uint64_t ideal) {
  if (a.columns != b.columns) return a.columns > b.columns;
  return distance(a.row, ideal) < distance(b.row, ideal);
}

/// Returns the beginnings of at most `grains` grains of about equal size. Each is the border of the
/// most columns among those nearer to its ideal row than to any other.
std::vector<std::uint64_t> cut_at(const std::vector<Border>& borders, std::uint64_t rows,
                                  std::uint64_t grains) {
  std::vector<std::uint64_t> begins = {0};
  const std::uint64_t step = std::max<std::uint64_t>(rows / grains, 1);
  auto next = borders.begin();
  for (std::uint64_t i = 1; i < grains && next != borders.end(); ++i) {
    const std::uint64_t ideal = i * step;
    while (next != borders.end() && next->row + step / 2 < ideal) ++next;
    auto best = borders.end();
    for (; next != borders.end() && next->row <= ideal + (step - 1) / 2; ++next) {
      if (best == borders.end() || is_better(*next, *best, ideal)) best = next;
    }
    if (best != borders.end()) begins.push_back(best->row);
  }
  return begins;
}

/// Bytes that these grains read more than once, the second reading of a dictionary left out.
std::uint64_t read_again(const GroupSize& group, const std::vector<ColumnPages>& columns,
                         const std::vector<std::uint64_t>& begins) {
  std::uint64_t bytes = 0;
  for (const ColumnPages& column : columns) {
    if (begins.size() > 2) bytes += (begins.size() - 2) * column.dictionary_bytes();
    for (std::size_t i = 1; i < begins.size(); ++i) {
      const std::uint64_t end = i + 1 < begins.size() ? begins[i + 1] : group.rows;
      const PagePlace& page = column.pages[pages_of(column, begins[i], end).first];
      if (page.first_row < begins[i]) bytes += page.bytes;
    }
  }
  return bytes;
}

}  // namespace

PageSpan pages_of(const ColumnPages& column, std::uint64_t first_row, std::uint64_t end_row) {
  const auto by_row = [](const PagePlace& page, std::uint64_t row) { return page.first_row < row; };
  const auto begin = column.pages.begin();
  auto first = std::lower_bound(begin, column.pages.end(), first_row, by_row);
  if (first == column.pages.end() || first->first_row > first_row) --first;  // the first has row 0
  const auto end = std::lower_bound(first + 1, column.pages.end(), end_row, by_row);
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(end - begin)};
}

bool wants_cut(const GroupSize& group, const std::vector<ColumnPages>& columns) {
  return grains_wanted(group, columns) > 1;
}

std::vector<std::uint64_t> cut_group(const GroupSize& group,
                                     const std::vector<ColumnPages>& columns) {
  const std::vector<Border> borders = borders_of(group, columns);
  const std::uint64_t most = bytes_of(columns) / kOverhead;
  const std::uint64_t fewest =
      std::clamp<std::uint64_t>(divided_up(group.decoded, kMostDecoded), 1, borders.size() + 1);
  std::uint64_t grains =
      std::clamp<std::uint64_t>(grains_wanted(group, columns), fewest, borders.size() + 1);
  while (true) {
    std::vector<std::uint64_t> begins = cut_at(borders, group.rows, grains);
    if (grains == fewest || read_again(group, columns, begins) <= most) return begins;
    grains = std::max(fewest, grains - divided_up(grains, 8));
  }
}

}  // namespace forebay::parquet
