#include "core/store/row_log.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/open_files.h"
#include "core/base/start_thread.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPrefetch = 8;

tl::unexpected<Error> refusal(const std::string& folder, const std::string& why) {
  return fail(Code::kUnavailable, "the tables' folder " + folder + " cannot be used (" + why +
                                      "); free some of its disk, or set run.dir to a larger one");
}

/// Segments never change, so they are hard-linked where possible, else copied.
Status put_segments(const std::vector<std::string>& paths, const std::string& folder) {
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path to = fs::path(folder) / fs::path(path).filename();
    std::error_code refused;
    fs::create_hard_link(path, to, refused);
    if (refused) fs::copy_file(path, to, error);
    if (error) return refusal(folder, error.message());
  }
  return {};
}

Status make_empty(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::create_directories(folder, error);
  return error ? Status(refusal(folder, error.message())) : Status();
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
    : folder_(std::move(folder)),
      plan_(plan),
      queue_(plan.shape.page_bytes),
      index_(plan),
      writer_(plan, folder_, [this] { tell_cleaner(); }) {}

RowLog::~RowLog() {
  stop_ = true;
  tell_cleaner();
  if (cleaner_.joinable()) cleaner_.join();
}

Status RowLog::start(const std::string& from) {
  if (auto made = make_empty(folder_); !made) return made;
  if (!from.empty()) {
    auto paths = segments_in(from);
    if (!paths) return pass(paths);
    if (auto put = put_segments(*paths, folder_); !put) return put;
    if (auto opened = index_.open(folder_); !opened) return opened;
  }
  for (std::uint64_t slot = 0; slot < RowLogPlan::kMostSegments; ++slot) {
    if (index_.segment(slot) == nullptr) continue;
    sequence_ = std::max(sequence_, index_.segment(slot)->sequence);
    drop_if_empty(slot);
  }
  cleaner_ = start_thread("cleaning rows on the disk", [this] { clean(); });
  return {};
}

RowPage RowLog::page() const {
  return {plan_.shape, chunk_->memory.data() + (chunk_->pages - 1) * plan_.shape.page_bytes};
}

/// Whether the open segment has space for another row.
bool RowLog::has_room() const {
  if (open_ == nullptr) return false;
  if (open_->pages < plan_.segment_pages) return true;
  return chunk_ != nullptr && chunk_->pages > 0 && !page().full();
}

/// Makes sure that the current page has space for a row, or returns why not. May release the lock
/// meanwhile.
Status RowLog::make_room(Lock& lock) {
  while (error_) {
    if (chunk_ != nullptr) {
      if (chunk_->pages > 0 && !page().full()) return {};
      if (chunk_->pages < plan_.chunk_pages && open_->pages < plan_.segment_pages) {
        begin_page();
        return {};
      }
      hand_in();
      continue;
    }
    if (auto opened = open_segment(); !opened) return opened;
    lock.unlock();
    auto chunk = writer_.take();
    lock.lock();
    if (chunk == nullptr) {
      error_ = writer_.status();
    } else if (chunk_ == nullptr && open_ != nullptr) {
      chunk->segment = open_;
      chunk->first_page = open_->pages;
      chunk_ = std::move(chunk);
    } else {
      writer_.give_back(std::move(chunk));
    }
  }
  return error_;
}

Status RowLog::open_segment() {
  if (open_ != nullptr) return {};
  auto segment = std::make_shared<OpenSegment>();
  segment->sequence = ++sequence_;
  segment->path = (fs::path(folder_) / segment_name(sequence_)).string();
  segment->file = open_direct(segment->path, O_RDWR | O_CREAT | O_EXCL);
  if (!segment->file) {
    error_ = refusal(folder_, std::strerror(errno));
    return error_;
  }
  open_ = std::move(segment);
  open_slot_ = index_.add(open_);
  numbers_.reserve(plan_.segment_pages * plan_.shape.rows);
  return {};
}

void RowLog::begin_page() {
  ++chunk_->pages;
  ++open_->pages;
  page().clear();
}

void RowLog::hand_in() {
  writer_.write(std::move(chunk_));
  if (open_->pages == plan_.segment_pages) finish_segment();
}

void RowLog::finish_segment() {
  writer_.finish(std::exchange(open_, nullptr), std::exchange(numbers_, {}));
  drop_if_empty(open_slot_);
}

void RowLog::drop_if_empty(std::uint64_t slot) {
  const SegmentIndex::Segment& segment = index_.segment(slot);
  if (segment->live > 0) return;
  std::error_code ignored;
  fs::remove(segment->path, ignored);
  index_.remove(slot);
  space_.notify_all();
}

void RowLog::append(std::uint64_t number, const std::function<void(std::span<std::byte>)>& put) {
  const SegmentIndex::Page here{open_slot_, open_->pages - 1};
  const std::uint64_t before = index_.location_of(number);
  if (before == index_.location_of(here)) return put(page().row(page().find(number).value()));
  put(page().add(number));
  numbers_.push_back(number);
  index_.move(number, here);
  if (before != 0) drop_if_empty(index_.page_at(before).slot);
}

Status RowLog::write(std::span<const std::uint64_t> numbers, const Fill& fill) {
  Lock lock(mutex_);
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    FOREBAY_CHECK(numbers[index] < plan_.most_rows);
    if (index + kPrefetch < numbers.size()) index_.prefetch(numbers[index + kPrefetch]);
    // Waits while the disk is too full: the last free segments are reserved for the cleaner.
    space_.wait(lock, [this] { return has_room() || !too_full() || !error_; });
    if (auto room = make_room(lock); !room) return room;
    append(numbers[index], [&](std::span<std::byte> row) { fill(index, row); });
  }
  return {};
}

Status RowLog::link(const std::string& folder) {
  if (auto made = make_empty(folder); !made) return made;
  // Held until the end, so that no row is appended or moved and no segment is dropped meanwhile.
  const Lock lock(mutex_);
  if (!error_) return error_;
  if (chunk_ != nullptr && chunk_->pages > 0) hand_in();
  if (chunk_ != nullptr) writer_.give_back(std::move(chunk_));
  if (open_ != nullptr) finish_segment();
  if (auto written = writer_.drain(); !written) return written;
  std::vector<std::string> paths;
  for (const SegmentIndex::Segment& segment : index_.segments()) {
    if (segment != nullptr) paths.push_back(segment->path);
  }
  return put_segments(paths, folder);
}

std::uint64_t RowLog::moved_rows() const {
  const Lock lock(mutex_);
  return moved_rows_;
}

std::uint64_t RowLog::disk_bytes() const {
  const Lock lock(mutex_);
  return index_.pages() * plan_.shape.page_bytes;
}

}  // namespace forebay
