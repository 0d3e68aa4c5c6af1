#include "core/store/rows/row_log.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

// Rows whose locations are prefetched ahead.
constexpr std::size_t kPrefetch = 8;
constexpr std::size_t kPrefetchRead = 16;

/// Segments never change, so they are hard-linked where possible, else copied; a symbolic link is
/// followed.
Status put_segments(const std::vector<std::string>& paths, const std::string& folder) {
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path to = fs::path(folder) / fs::path(path).filename();
    std::error_code refused;
    fs::create_hard_link(fs::canonical(path, error), to, refused);
    if (refused) fs::copy_file(path, to, error);
    if (error) return refuse_folder(folder, error.message());
  }
  return {};
}

Status make_empty(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::create_directories(folder, error);
  return error ? Status(refuse_folder(folder, error.message())) : Status();
}

}  // namespace

std::uint64_t RowLog::memory_bytes(const Options& options) {
  return RowLogPlan(options.row_bytes, options.most_rows).memory_bytes();
}

Result<std::unique_ptr<RowLog>> RowLog::create(const std::string& folder, const Options& options,
                                               const std::string& from) {
  auto log =
      std::unique_ptr<RowLog>(new RowLog(folder, RowLogPlan(options.row_bytes, options.most_rows)));
  if (auto started = log->start(from); !started) return pass(started);
  return log;
}

RowLog::RowLog(std::string folder, const RowLogPlan& plan)
    : plan_(plan), queue_(plan.shape.page_bytes), rows_(std::move(folder), plan) {}

RowLog::~RowLog() = default;

Status RowLog::start(const std::string& from) {
  if (auto made = make_empty(rows_.folder()); !made) return made;
  if (!from.empty()) {
    auto paths = segments_in(from);
    if (!paths) return pass(paths);
    if (auto put = put_segments(*paths, rows_.folder()); !put) return put;
    if (auto opened = rows_.open(); !opened) return opened;
  }
  cleaner_.emplace(rows_);
  return {};
}

Status RowLog::write(std::span<const std::uint64_t> numbers, const Fill& fill) {
  RowAppender::Lock lock = rows_.lock();
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    FOREBAY_CHECK(numbers[index] < plan_.most_rows);
    if (index + kPrefetch < numbers.size()) rows_.index().prefetch(numbers[index + kPrefetch]);
    auto room = rows_.make_room(lock, RowAppender::Use::kCaller);
    if (!room) return room;
    rows_.append(numbers[index], [&](std::span<std::byte> row) { fill(index, row); });
  }
  return {};
}

Status RowLog::link(const std::string& folder) {
  if (auto made = make_empty(folder); !made) return made;
  // Held until the end, so that no row is appended or moved and no segment is dropped meanwhile.
  const RowAppender::Lock lock = rows_.lock();
  if (auto closed = rows_.close(); !closed) return closed;
  std::vector<std::string> paths;
  for (const SegmentIndex::Segment& segment : rows_.index().segments()) {
    if (segment != nullptr) paths.push_back(segment->path);
  }
  return put_segments(paths, folder);
}

Status RowLog::lost(std::uint64_t number) const {
  return fail(Code::kCorrupt,
              "the tables' folder " + rows_.folder() + " has lost row " + std::to_string(number));
}

/// Reads the rows that are still in memory, and lists the others in `wanted`.
Status RowLog::look_up(std::span<const std::uint64_t> numbers, const RowCallback& take,
                       std::vector<Wanted>& wanted) {
  wanted.reserve(numbers.size());
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (index + kPrefetchRead < numbers.size()) {
      rows_.index().prefetch(numbers[index + kPrefetchRead]);
    }
    const std::uint64_t place = rows_.index().location_of(numbers[index]);
    if (place == 0) return lost(numbers[index]);
    const auto [slot, page] = rows_.index().page_at(place);
    const bool in_memory = rows_.visit(rows_.index().segment(slot), page, [&](char* memory) {
      const RowPage rows(plan_.shape, memory);
      take(index, rows.row(rows.find(numbers[index]).value()));
    });
    if (!in_memory) wanted.push_back({place, index});
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
    const RowAppender::Lock lock = rows_.lock();
    if (auto looked = look_up(numbers, take, reads.wanted); !looked) return looked;
    reads.slots.assign(rows_.index().segments().begin(), rows_.index().segments().end());
  }
  reads.group(rows_.index());
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
  const auto [slot, place] = rows_.index().page_at(reads.wanted[reads.first[at]].place);
  if (auto good = check_page(plan_.shape, *reads.slots[slot], place, page); !good) return good;
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
        plan.shape, *segment_index.segments()[slot], DirectMemory(plan.chunk_bytes()),
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
