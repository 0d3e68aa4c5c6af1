#include "actors/input/joined_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/random.h"

namespace forebay {
namespace {

using Parts = std::vector<std::unique_ptr<const InputFile>>;

FileInfo with_stamp_of(FileInfo named, const Parts& parts) {
  named.stamp = {};
  std::uint64_t version = 0;
  for (const auto& part : parts) {
    named.stamp.bytes += part->size();
    version =
        mix64(mix64(version, part->size()), static_cast<std::uint64_t>(part->stamp().version));
  }
  named.stamp.version = static_cast<std::int64_t>(version);
  return named;
}

/// The reads of several parts.
class JoinedRead final : public PendingRead {
 public:
  explicit JoinedRead(std::vector<std::unique_ptr<PendingRead>> reads) : reads_(std::move(reads)) {}

  Status wait() override {
    for (const auto& read : reads_) {
      if (auto status = read->wait(); !status) return status;
    }
    return {};
  }

 private:
  const std::vector<std::unique_ptr<PendingRead>> reads_;
};

/// Fails as a read past the end of the last part does.
class FailedRead final : public PendingRead {
 public:
  explicit FailedRead(std::string path) : path_(std::move(path)) {}
  Status wait() override { return changed_since_indexed(path_); }

 private:
  const std::string path_;
};

}  // namespace

JoinedFile::JoinedFile(FileInfo named, Parts parts)
    : InputFile(with_stamp_of(std::move(named), parts)), parts_(std::move(parts)) {
  std::uint64_t start = 0;
  for (const auto& part : parts_) {
    starts_.push_back(start);
    start += part->size();
  }
}

std::size_t JoinedFile::part_of(std::uint64_t offset) const {
  // An empty part starts where the next one does and holds no byte.
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<std::size_t>(std::prev(after) - starts_.begin());
}

Status JoinedFile::check(const FileStamp& indexed) const {
  for (const auto& part : parts_) {
    if (auto status = part->check(part->stamp()); !status) return status;
  }
  return indexed == stamp() ? Status{} : Status(changed_since_indexed(path()));
}

Result<std::size_t> JoinedFile::read_at(std::uint64_t offset, std::span<char> out) const {
  std::size_t filled = 0;
  while (filled < out.size() && offset + filled < size()) {
    const std::size_t i = part_of(offset + filled);
    const std::uint64_t within = offset + filled - starts_[i];
    const std::uint64_t left = parts_[i]->size() - within;
    const auto piece = std::min<std::uint64_t>(out.size() - filled, left);
    if (auto status = parts_[i]->read(within, out.subspan(filled, piece)); !status) {
      return pass(status);
    }
    filled += piece;
  }
  return filled;
}

std::unique_ptr<PendingRead> JoinedFile::begin_read(std::vector<ReadRange> ranges) const {
  std::vector<std::vector<ReadRange>> by_part(parts_.size());
  for (ReadRange range : ranges) {
    while (!range.out.empty()) {
      if (range.offset >= size()) return std::make_unique<FailedRead>(path());
      const std::size_t i = part_of(range.offset);
      const std::uint64_t within = range.offset - starts_[i];
      const auto piece = std::min<std::uint64_t>(range.out.size(), parts_[i]->size() - within);
      by_part[i].push_back({within, range.out.first(piece)});
      range = {range.offset + piece, range.out.subspan(piece)};
    }
  }
  std::vector<std::unique_ptr<PendingRead>> reads;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!by_part[i].empty()) reads.push_back(parts_[i]->begin_read(std::move(by_part[i])));
  }
  return std::make_unique<JoinedRead>(std::move(reads));
}

void JoinedFile::will_read(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset >= size()) return;
  const std::size_t i = part_of(offset);
  parts_[i]->will_read(offset - starts_[i], bytes);
}

void JoinedFile::will_read_through() const {
  for (const auto& part : parts_) part->will_read_through();
}

}  // namespace forebay
