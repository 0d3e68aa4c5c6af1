#include "actors/input/store/store_file.h"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

constexpr std::size_t kPartsAhead = 4;
constexpr std::uint64_t kFirstPart = std::uint64_t{512} << 10;
constexpr std::uint64_t kLargestPart = std::uint64_t{8} << 20;
// A footer is most often here, and what says where it begins.
constexpr std::uint64_t kTailBytes = std::uint64_t{64} << 10;

}  // namespace

ReadAhead::ReadAhead(std::shared_ptr<StoreClient> client, std::shared_ptr<const Target> target,
                     StoredVersion version)
    : client_(std::move(client)),
      target_(std::move(target)),
      version_(std::move(version)),
      grown_(kFirstPart) {}

ReadAhead::~ReadAhead() {
  while (!parts_.empty()) drop_front();
}

void ReadAhead::drop_front() {
  parts_.front().pending.reset();
  const std::uint64_t bytes = parts_.front().bytes.size();
  parts_.pop_front();
  client_->give_read_ahead(bytes);
}

void ReadAhead::ask() {
  const std::size_t most = through_ ? kPartsAhead : std::min(parts_used_ + 1, kPartsAhead);
  while (parts_.size() < most && asked_ < version_.bytes) {
    const std::uint64_t size = std::min(through_ ? kLargestPart : grown_, version_.bytes - asked_);
    if (!client_->take_read_ahead(size)) return;
    Part& part = parts_.emplace_back();
    part.offset = asked_;
    part.bytes.resize(size);
    part.pending = client_->read(target_, version_, {{part.offset, part.bytes}},
                                 StoreClient::Haste::kWaitedFor);
    asked_ += size;
    grown_ = std::min(grown_ * 2, kLargestPart);
  }
}

Result<std::size_t> ReadAhead::read(std::uint64_t offset, std::span<char> out) {
  const bool goes_on = begun_ && offset == next_;
  begun_ = true;
  next_ = offset + out.size();
  if (!goes_on) {
    while (!parts_.empty()) drop_front();
    grown_ = kFirstPart;
    parts_used_ = 0;
    return 0;
  }
  if (parts_.empty()) asked_ = offset;
  std::size_t filled = 0;
  while (filled < out.size()) {
    ask();
    if (parts_.empty()) break;
    Part& part = parts_.front();
    if (auto status = part.pending->wait(); !status) return pass(status);
    const std::uint64_t at = offset + filled - part.offset;
    const auto bytes = static_cast<std::size_t>(
        std::min<std::uint64_t>(part.bytes.size() - at, out.size() - filled));
    std::copy_n(part.bytes.data() + at, bytes, out.data() + filled);
    filled += bytes;
    if (offset + filled == part.end()) {
      drop_front();
      ++parts_used_;
    }
  }
  next_ = offset + filled;
  return filled;
}

StoreFile::StoreFile(FileInfo info, std::shared_ptr<StoreClient> client,
                     std::shared_ptr<const Target> target, StoredVersion version)
    : InputFile(std::move(info)),
      client_(client),
      target_(target),
      version_(version),
      ahead_(std::move(client), std::move(target), std::move(version)) {}

Status StoreFile::check(const FileStamp& indexed) const {
  return indexed == stamp() ? Status{} : changed_since_indexed(path());
}

void StoreFile::will_read_through() const {
  const std::lock_guard lock(mutex_);
  ahead_.expect_all();
}

Status StoreFile::fetch(std::uint64_t offset, std::span<char> out) const {
  return client_->read(target_, version_, {{offset, out}}, StoreClient::Haste::kWaitedFor)->wait();
}

/// Reads out of the file's last bytes, which are fetched together once.
Result<std::size_t> StoreFile::read_tail(std::uint64_t offset, std::span<char> out) const {
  const std::uint64_t begin = size() - std::min(size(), kTailBytes);
  const std::lock_guard lock(mutex_);
  if (tail_.empty()) {
    std::vector<char> tail(static_cast<std::size_t>(size() - begin));
    if (auto status = fetch(begin, tail); !status) return pass(status);
    tail_ = std::move(tail);
  }
  std::copy_n(tail_.data() + (offset - begin), out.size(), out.data());
  return out.size();
}

Result<std::size_t> StoreFile::read_at(std::uint64_t offset, std::span<char> out) const {
  if (offset >= size() || out.empty()) return 0;
  out = out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size() - offset)));
  if (offset + kTailBytes >= size()) return read_tail(offset, out);
  std::size_t filled = 0;
  if (std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    auto ahead = ahead_.read(offset, out);
    if (!ahead) return ahead;
    filled = *ahead;
  }
  if (filled == out.size()) return filled;
  if (auto status = fetch(offset + filled, out.subspan(filled)); !status) return pass(status);
  return out.size();
}

std::unique_ptr<PendingRead> StoreFile::begin_read(std::vector<ReadRange> ranges) const {
  return client_->read(target_, version_, ranges, StoreClient::Haste::kNone);
}

}  // namespace forebay
