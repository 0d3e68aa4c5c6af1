#include <algorithm>
#include <cstring>
#include <utility>

#include "core/store/row_log.h"

namespace forebay {
namespace {

constexpr std::size_t kPrefetch = 16;

}  // namespace

Status RowLog::lost(std::uint64_t number) const {
  return fail(Code::kCorrupt,
              "the tables' folder " + folder_ + " has lost row " + std::to_string(number));
}

/// Calls `seen` with a page that is not on disk yet; returns false if it is on disk. Requires the
/// mutex.
template <class Seen>
bool RowLog::see_in_memory(const SegmentIndex::Segment& segment, std::uint64_t page,
                           const Seen& seen) const {
  if (chunk_ != nullptr && chunk_->segment == segment && page >= chunk_->first_page) {
    seen(chunk_->memory.data() + (page - chunk_->first_page) * plan_.shape.page_bytes);
    return true;
  }
  return page >= segment->written && writer_.visit(*segment, page, seen);
}

/// Reads the rows that are still in memory, and lists the others in `wanted`.
Status RowLog::look_up(std::span<const std::uint64_t> numbers, const RowCallback& take,
                       std::vector<Wanted>& wanted) {
  wanted.reserve(numbers.size());
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (index + kPrefetch < numbers.size()) index_.prefetch(numbers[index + kPrefetch]);
    const std::uint64_t place = index_.location_of(numbers[index]);
    if (place == 0) return lost(numbers[index]);
    const auto [slot, page] = index_.page_at(place);
    const bool seen = see_in_memory(index_.segment(slot), page, [&](char* memory) {
      const RowPage rows(plan_.shape, memory);
      take(index, rows.row(rows.find(numbers[index]).value()));
    });
    if (!seen) wanted.push_back({place, index});
  }
  return {};
}

/// The pages to read, and the wanted rows of each.
struct RowLog::PageReads {
  std::vector<Wanted> wanted;                // Sorted by place.
  std::vector<SegmentIndex::Segment> slots;  // Keep the files open, even if a segment is dropped.
  std::vector<PageLocation> places;
  std::vector<std::size_t> first;  // Index in `wanted` of each page's first row.

  void group(const SegmentIndex& segment_index) {
    std::ranges::sort(wanted, {}, &Wanted::place);
    places.reserve(wanted.size());
    first.reserve(wanted.size() + 1);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i > 0 && wanted[i].place == wanted[i - 1].place) continue;
      const auto [slot, page] = segment_index.page_at(wanted[i].place);
      places.push_back({slots[slot]->file.number(), page * segment_index.plan().shape.page_bytes});
      first.push_back(i);
    }
    first.push_back(wanted.size());
  }
};

Status RowLog::read(std::span<const std::uint64_t> numbers, const RowCallback& take) {
  const std::lock_guard turn(reading_);
  PageReads reads;
  {
    const Lock lock(mutex_);
    if (auto looked = look_up(numbers, take, reads.wanted); !looked) return looked;
    reads.slots.assign(index_.segments().begin(), index_.segments().end());
  }
  reads.group(index_);
  Status status;
  std::mutex failing;
  queue_.read(reads.places, [&](std::size_t at, std::int64_t read, char* memory) {
    Status taken = take_page(reads, at, {memory, read}, numbers, take);
    if (taken) return;
    const std::lock_guard lock(failing);
    status = std::move(taken);
  });
  return status;
}

Status RowLog::take_page(const PageReads& reads, std::size_t at, ReadPage page,
                         std::span<const std::uint64_t> numbers, const RowCallback& take) const {
  const auto [slot, place] = index_.page_at(reads.wanted[reads.first[at]].place);
  if (auto good = check_page(plan_, *reads.slots[slot], place, page); !good) return good;
  const RowPage rows(plan_.shape, page.memory);
  for (std::size_t i = reads.first[at]; i < reads.first[at + 1]; ++i) {
    const std::size_t index = reads.wanted[i].index;
    const auto row = rows.find(numbers[index]);
    if (!row) return lost(numbers[index]);
    take(index, rows.row(*row));
  }
  return {};
}

Status RowLog::scan(const std::string& folder, const Options& options, const Visit& visit) {
  const RowLogPlan plan(options.row_bytes, options.most_rows);
  SegmentIndex segment_index(plan);
  if (auto opened = segment_index.open(folder); !opened) return opened;
  for (std::uint64_t slot = 0; slot < segment_index.segments().size(); ++slot) {
    if (segment_index.segments()[slot] == nullptr) continue;
    auto scanned = for_each_page(
        plan, *segment_index.segments()[slot], DirectMemory(plan.chunk_bytes()),
        [&](std::uint64_t page, const RowPage& rows) -> Status {
          const std::uint64_t here = segment_index.location_of(SegmentIndex::Page{slot, page});
          for (std::size_t row = 0; row < rows.rows(); ++row) {
            const std::uint64_t number = rows.number(row);
            if (number >= plan.most_rows || segment_index.location_of(number) != here) continue;
            if (auto visited = visit(number, rows.row(row)); !visited) return visited;
          }
          return {};
        });
    if (!scanned) return scanned;
  }
  return {};
}

}  // namespace forebay
