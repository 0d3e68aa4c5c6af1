#include "actors/input/store/transfer/fetch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/input/store/protocol/store_xml.h"

namespace forebay {
namespace {

/// How far into a file a server that ignores ranges is followed.
constexpr std::uint64_t kMostSkipped = std::uint64_t{64} << 20;
constexpr std::size_t kMostRefusalBytes = 16 << 10;

}  // namespace

Fetch::Fetch(std::shared_ptr<const Target> target, std::string method, std::optional<RangeOf> range)
    : target_(std::move(target)), method_(std::move(method)), range_(std::move(range)) {}

void Fetch::Attempt::progress(Time now) {
  longest_wait = std::max(longest_wait, now - last_progress);
  last_progress = now;
}

Fetch::Attempt Fetch::begin(Time now) const {
  Attempt attempt;
  if (is_range()) attempt.first = attempt.at = range_->range.offset + filled_;
  attempt.last_progress = now;
  return attempt;
}

Headers Fetch::headers(const Attempt& attempt) const {
  if (!is_range()) return more_headers;
  Headers headers = {{"range", "bytes=" + std::to_string(attempt.first) + '-' +
                                   std::to_string(range_->range.end() - 1)}};
  const StoredVersion& version = range_->version;
  if (version.has_strong_etag()) {
    headers.emplace_back("if-match", version.etag);
  } else if (!version.last_modified.empty()) {
    headers.emplace_back("if-unmodified-since", version.last_modified);
  }
  return headers;
}

/// Checks that an answer is of the wanted version and holds the wanted bytes.
bool Fetch::check(Attempt& attempt) const {
  attempt.checked = true;
  const ResponseHead& head = attempt.head;
  const StoredVersion& version = range_->version;
  const auto refuse = [&](const std::string& why) {
    attempt.error = Error{Code::kUnavailable, target_->path + " cannot be read: " + why};
    return false;
  };
  const bool partial = head.status == 206;
  if (partial && (!head.content_range || head.content_range->first != attempt.first ||
                  head.content_range->end > range_->range.end())) {
    return refuse("the server answers other bytes than it was asked for");
  }
  const auto total = partial ? std::optional(head.content_range->total) : head.content_length;
  if ((total && *total != version.bytes) || (!version.etag.empty() && head.etag != version.etag) ||
      (version.etag.empty() && head.last_modified != version.last_modified)) {
    attempt.error = changed_since_indexed(target_->path).value();
    return false;
  }
  if (!partial) attempt.at = 0;
  if (!partial && attempt.first > kMostSkipped) {
    return refuse("the server ignores byte ranges; move the file to one that knows them");
  }
  return true;
}

bool Fetch::take(Attempt& attempt, std::span<const char> bytes) {
  const bool fine = attempt.head.status >= 200 && attempt.head.status < 300;
  if (fine && is_range()) {
    if (!attempt.checked && !check(attempt)) return false;
    deliver(attempt, bytes);
    // A whole file's rest is of no use.
    return attempt.head.status == 206 || attempt.at < range_->range.end();
  }
  if (fine && needs_head_only) return false;
  const std::size_t most = fine ? kMostListBytes : kMostRefusalBytes;
  const std::size_t room = most - std::min(most, attempt.body.size());
  if (fine && bytes.size() > room) {
    attempt.error = Error{Code::kUnavailable, target_->path + ": the answer has over 8 MiB"};
    return false;
  }
  attempt.body.append(bytes.data(), std::min(room, bytes.size()));
  return true;
}

/// Keeps the bytes that no other attempt has brought yet.
void Fetch::deliver(Attempt& attempt, std::span<const char> bytes) {
  const std::uint64_t begin = attempt.at;
  attempt.at += bytes.size();
  const std::uint64_t end = std::min(attempt.at, range_->range.end());
  const std::uint64_t missing = range_->range.offset + filled_;
  if (end <= missing || begin > missing) return;
  copy(missing, bytes.subspan(missing - begin, end - missing));
  filled_ += end - missing;
}

void Fetch::copy(std::uint64_t offset, std::span<const char> bytes) {
  const std::vector<Wanted>& pieces = range_->range.wanted;
  const std::uint64_t end = offset + bytes.size();
  for (; piece_ < pieces.size(); ++piece_) {
    const Wanted& piece = pieces[piece_];
    const std::uint64_t from = std::max(offset, piece.offset);
    const std::uint64_t to = std::min(end, piece.end());
    if (from < to && piece.out != nullptr) {
      std::memcpy(piece.out + (from - piece.offset), bytes.data() + (from - offset), to - from);
    }
    if (end < piece.end()) return;
  }
}

}  // namespace forebay
