#include "core/store/rows/segment_index.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

// Limits in segments: above the first, cleaning begins; above the second, writes wait for it.
constexpr std::uint64_t kMany = RowLogPlan::kMostSegments - 32;
constexpr std::uint64_t kTooMany = RowLogPlan::kMostSegments - 8;
// Limits in segments beyond those that the live rows need.
constexpr std::uint64_t kSpare = 3;
constexpr std::uint64_t kMostSpare = 6;

tl::unexpected<Error> unreadable(const std::string& folder, const std::string& why) {
  return fail(Code::kUnavailable, "the tables' folder " + folder + " cannot be read (" + why + ")");
}

}  // namespace

std::string segment_name(std::uint64_t sequence) {
  constexpr std::size_t kDigits = 20;
  const std::string digits = std::to_string(sequence);
  return std::string(kDigits - digits.size(), '0') + digits + RowSegment::kExtension;
}

Result<std::vector<std::string>> segments_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator file = open_folder(folder, error), end; !error && file != end;
       file.increment(error)) {
    const fs::path& path = file->path();
    if (path.extension() == ".sst" || path.filename() == "CURRENT") {
      return fail(Code::kCorrupt, path.string() +
                                      " is of a Forebay that kept rows in RocksDB: go on with that "
                                      "one, or begin anew with --restart");
    }
    if (path.extension() != RowSegment::kExtension) {
      return fail(Code::kCorrupt, path.string() + " is no file of rows");
    }
    found.push_back(path.string());
  }
  if (error) return unreadable(folder, error.message());
  std::ranges::sort(found);
  return found;
}

void SegmentIndex::move(std::uint64_t number, Page to) {
  if (const std::uint64_t before = locations_.get(number); before != 0) {
    --segments_[page_at(before).slot]->live;
  } else {
    ++live_;
  }
  ++segments_[to.slot]->live;
  locations_.set(number, location_of(to));
}

std::uint64_t SegmentIndex::add(Segment segment) {
  const auto slot = std::ranges::find(segments_, nullptr);
  FOREBAY_CHECK(slot != segments_.end());
  *slot = std::move(segment);
  ++num_segments_;
  return static_cast<std::uint64_t>(slot - segments_.begin());
}

void SegmentIndex::remove(std::uint64_t slot) {
  FOREBAY_CHECK(segments_[slot] != nullptr && segments_[slot]->live == 0);
  segments_[slot].reset();
  --num_segments_;
}

std::uint64_t SegmentIndex::pages() const {
  std::uint64_t pages = 0;
  for (const Segment& segment : segments_) pages += segment == nullptr ? 0 : segment->pages;
  return pages;
}

bool SegmentIndex::wants_cleaning() const {
  const std::uint64_t live = live_pages();
  return num_segments_ > kMany || pages() > live + live * 7 / 10 + kSpare * plan_.segment_pages;
}

bool SegmentIndex::too_full() const {
  return num_segments_ > kTooMany || pages() > 2 * live_pages() + kMostSpare * plan_.segment_pages;
}

std::optional<std::uint64_t> SegmentIndex::cheapest_to_clean() const {
  std::optional<std::uint64_t> best;
  double least = 0;
  for (std::uint64_t slot = 0; slot < segments_.size(); ++slot) {
    const Segment& segment = segments_[slot];
    if (segment == nullptr || !segment->whole) continue;
    const auto live = static_cast<double>(segment->live);
    const double cost = num_segments_ > kMany ? live : live / static_cast<double>(segment->pages);
    if (best && cost >= least) continue;
    best = slot;
    least = cost;
  }
  return best;
}

Status SegmentIndex::open(const std::string& folder) {
  auto paths = segments_in(folder);
  if (!paths) return pass(paths);
  if (paths->size() > segments_.size()) {
    return fail(Code::kCorrupt, "the tables' folder " + folder + " has " +
                                    std::to_string(paths->size()) + " files of rows, more than " +
                                    std::to_string(segments_.size()));
  }
  for (const std::string& path : *paths) {
    if (auto opened = open_segment(path); !opened) return opened;
  }
  return {};
}

Status SegmentIndex::open_segment(const std::string& path) {
  auto read = RowSegment::open(path, plan_.shape);
  if (!read) return pass(read);
  const std::uint64_t pages = RowSegment::pages(plan_.shape, read->numbers.size());
  if (fs::path(path).filename() != segment_name(read->sequence) || pages > plan_.segment_pages) {
    return fail(Code::kCorrupt, path + " is not the file of rows that its name says");
  }
  auto segment = std::make_shared<OpenSegment>();
  segment->path = path;
  segment->file = open_direct(path, O_RDONLY);
  if (!segment->file) return unreadable(path, system_words(errno));
  segment->sequence = read->sequence;
  segment->pages = segment->written = pages;
  segment->whole = true;
  const std::uint64_t slot = add(segment);
  for (std::size_t row = 0; row < read->numbers.size(); ++row) {
    if (read->numbers[row] >= plan_.most_rows) {
      return fail(Code::kCorrupt, path + " has row " + std::to_string(read->numbers[row]) +
                                      ", which the tables have not");
    }
    move(read->numbers[row], {slot, row / plan_.shape.rows});
  }
  return {};
}

}  // namespace forebay
