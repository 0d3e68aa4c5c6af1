#include "core/store/rows/row_appender.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/open_files.h"

namespace forebay {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse_folder(const std::string& folder, const std::string& why) {
  return fail(Code::kUnavailable, "the tables' folder " + folder + " cannot be used (" + why +
                                      "); free some of its disk, or set run.dir to a larger one");
}

RowAppender::RowAppender(std::string folder, const RowLogPlan& plan)
    : folder_(std::move(folder)),
      plan_(plan),
      index_(plan),
      writer_(plan, folder_, [this] { tell_cleaner(); }) {}

Status RowAppender::open() {
  if (auto opened = index_.open(folder_); !opened) return opened;
  for (std::uint64_t slot = 0; slot < RowLogPlan::kMostSegments; ++slot) {
    if (index_.segment(slot) == nullptr) continue;
    sequence_ = std::max(sequence_, index_.segment(slot)->sequence);
    drop_if_empty(slot);
  }
  return {};
}

RowPage RowAppender::page() const {
  return {plan_.shape, chunk_->memory.data() + (chunk_->pages - 1) * plan_.shape.page_bytes};
}

/// Whether the open segment has space for another row.
bool RowAppender::has_room() const {
  if (open_ == nullptr) return false;
  if (open_->pages < plan_.segment_pages) return true;
  return chunk_ != nullptr && chunk_->pages > 0 && !page().full();
}

Status RowAppender::make_room(Lock& lock, Use use) {
  if (use == Use::kCaller) {
    space_.wait(lock, [this] { return has_room() || !index_.too_full() || !error_; });
  }
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

Status RowAppender::open_segment() {
  if (open_ != nullptr) return {};
  auto segment = std::make_shared<OpenSegment>();
  segment->sequence = ++sequence_;
  segment->path = (fs::path(folder_) / segment_name(sequence_)).string();
  segment->file = open_direct(segment->path, O_RDWR | O_CREAT | O_EXCL);
  if (!segment->file) {
    error_ = refuse_folder(folder_, std::strerror(errno));
    return error_;
  }
  open_ = std::move(segment);
  open_slot_ = index_.add(open_);
  numbers_.reserve(plan_.segment_pages * plan_.shape.rows);
  return {};
}

void RowAppender::begin_page() {
  ++chunk_->pages;
  ++open_->pages;
  page().clear();
}

void RowAppender::hand_in() {
  writer_.write(std::move(chunk_));
  if (open_->pages == plan_.segment_pages) finish_segment();
}

void RowAppender::finish_segment() {
  writer_.finish(std::exchange(open_, nullptr), std::exchange(numbers_, {}));
  drop_if_empty(open_slot_);
}

void RowAppender::drop_if_empty(std::uint64_t slot) {
  const SegmentIndex::Segment& segment = index_.segment(slot);
  if (segment->live > 0) return;
  std::error_code ignored;
  fs::remove(segment->path, ignored);
  index_.remove(slot);
  space_.notify_all();
}

void RowAppender::append(std::uint64_t number,
                         const std::function<void(std::span<std::byte>)>& put) {
  const SegmentIndex::Page here{open_slot_, open_->pages - 1};
  const std::uint64_t before = index_.location_of(number);
  if (before == index_.location_of(here)) return put(page().row(page().find(number).value()));
  put(page().add(number));
  numbers_.push_back(number);
  index_.move(number, here);
  if (before != 0) drop_if_empty(index_.page_at(before).slot);
}

Status RowAppender::close() {
  if (!error_) return error_;
  if (chunk_ != nullptr && chunk_->pages > 0) hand_in();
  if (chunk_ != nullptr) writer_.give_back(std::move(chunk_));
  if (open_ != nullptr) finish_segment();
  return writer_.drain();
}

bool RowAppender::visit(const SegmentIndex::Segment& segment, std::uint64_t page,
                        const std::function<void(char* page)>& visit) const {
  if (chunk_ != nullptr && chunk_->segment == segment && page >= chunk_->first_page) {
    visit(chunk_->memory.data() + (page - chunk_->first_page) * plan_.shape.page_bytes);
    return true;
  }
  return page >= segment->written && writer_.visit(*segment, page, visit);
}

Status RowAppender::check() {
  if (auto written = writer_.status(); !written) error_ = std::move(written);
  space_.notify_all();
  return error_;
}

void RowAppender::break_off(Status why) {
  error_ = std::move(why);
  space_.notify_all();
}

void RowAppender::tell_cleaner() {
  ++events_;
  events_.notify_all();
}

}  // namespace forebay
