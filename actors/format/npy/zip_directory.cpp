#include "actors/format/npy/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace forebay::npy {
namespace {

constexpr std::uint64_t kMostDirectory = 1 << 20;  // bytes; an array takes some 60 of them
constexpr std::uint64_t kTail = 66 << 10;          // the end record, with the longest comment
constexpr std::size_t kEndRecord = 22;
constexpr std::size_t kZip64Locator = 20;
constexpr std::size_t kZip64EndRecord = 56;
constexpr std::size_t kEntry = 46;
constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::uint32_t kZip64LocatorMagic = 0x07064b50;
constexpr std::uint32_t kZip64EndMagic = 0x06064b50;
constexpr std::uint32_t kEntryMagic = 0x02014b50;
constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::uint32_t kInZip64 = 0xffffffff;  // the number is in the Zip64 part
constexpr std::uint16_t kZip64Extra = 1;

/// Reads a little-endian number; the caller has checked that it is there.
template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Place {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

class Directory {
 public:
  explicit Directory(const InputFile& file) : file_(file) {}

  Result<std::vector<StoredEntry>> read() {
    if (auto status = read_tail(); !status) return pass(status);
    auto place = find();
    if (!place) return pass(place);
    auto bytes = bytes_at(*place);
    if (!bytes) return pass(bytes);
    auto entries = parse(*bytes, *place);
    if (!entries) return pass(entries);
    if (auto status = check_overlap(*entries, place->offset); !status) return pass(status);
    return entries;
  }

 private:
  tl::unexpected<Error> damaged(const std::string& what) const {
    return fail(Code::kCorrupt, file_.path() + " is a damaged zip archive: " + what);
  }

  Status read_tail() {
    tail_.resize(std::min(file_.size(), kTail));
    tail_start_ = file_.size() - tail_.size();
    return file_.read(tail_start_, tail_);
  }

  // Returns where the directory lies, as the last end record says whose comment ends the file.
  Result<Place> find() const {
    if (tail_.size() < kEndRecord) return damaged("it is too short");
    for (std::size_t at = tail_.size() - kEndRecord + 1; at-- > 0;) {
      if (number_at<std::uint32_t>(tail_, at) != kEndMagic) continue;
      const auto comment = number_at<std::uint16_t>(tail_, at + 20);
      if (comment != tail_.size() - at - kEndRecord) continue;
      return checked(at, place_of(at));
    }
    return damaged("the end of its directory is missing; the file may be cut off");
  }

  Place place_of(std::size_t end) const {
    Place place{.offset = number_at<std::uint32_t>(tail_, end + 16),
                .bytes = number_at<std::uint32_t>(tail_, end + 12),
                .entries = number_at<std::uint16_t>(tail_, end + 10)};
    return zip64_place(end).value_or(place);
  }

  std::optional<Place> zip64_place(std::size_t end) const {
    if (end < kZip64Locator) return std::nullopt;
    const std::size_t locator = end - kZip64Locator;
    if (number_at<std::uint32_t>(tail_, locator) != kZip64LocatorMagic) return std::nullopt;
    const auto offset = number_at<std::uint64_t>(tail_, locator + 8);
    if (offset < tail_start_ || offset - tail_start_ > locator) return std::nullopt;
    const auto at = static_cast<std::size_t>(offset - tail_start_);
    if (locator - at < kZip64EndRecord) return std::nullopt;
    if (number_at<std::uint32_t>(tail_, at) != kZip64EndMagic) return std::nullopt;
    return Place{.offset = number_at<std::uint64_t>(tail_, at + 48),
                 .bytes = number_at<std::uint64_t>(tail_, at + 40),
                 .entries = number_at<std::uint64_t>(tail_, at + 32)};
  }

  Result<Place> checked(std::size_t end, const Place& place) const {
    const std::uint64_t before = tail_start_ + end;
    if (place.bytes > kMostDirectory) return damaged("its directory is too long");
    if (place.offset > before || place.bytes > before - place.offset) {
      return damaged("its directory lies outside of it");
    }
    if (place.entries > place.bytes / kEntry) return damaged("its directory is too short");
    return place;
  }

  Result<std::string> bytes_at(const Place& place) const {
    if (place.offset >= tail_start_) return tail_.substr(place.offset - tail_start_, place.bytes);
    std::string bytes(place.bytes, '\0');
    if (auto status = file_.read(place.offset, bytes); !status) return pass(status);
    return bytes;
  }

  Result<std::vector<StoredEntry>> parse(std::string_view left, const Place& place) const {
    std::vector<StoredEntry> entries;
    for (std::uint64_t i = 0; i < place.entries; ++i) {
      const bool fits = left.size() >= kEntry && number_at<std::uint32_t>(left, 0) == kEntryMagic;
      if (!fits) return damaged("entry " + std::to_string(i) + " of its directory");
      const std::size_t name = number_at<std::uint16_t>(left, 28);
      const std::size_t extra = number_at<std::uint16_t>(left, 30);
      const std::size_t bytes = kEntry + name + extra + number_at<std::uint16_t>(left, 32);
      if (bytes > left.size()) return damaged("entry " + std::to_string(i) + " of its directory");
      auto entry = entry_of(left.substr(0, kEntry), std::string(left.substr(kEntry, name)),
                            left.substr(kEntry + name, extra), place.offset);
      if (!entry) return pass(entry);
      entries.push_back(std::move(*entry));
      left.remove_prefix(bytes);
    }
    return entries;
  }

  Result<StoredEntry> entry_of(std::string_view fixed, std::string name, std::string_view extra,
                               std::uint64_t data_end) const {
    const auto refuse = [&](const std::string& why) {
      return fail(Code::kInvalid, file_.path() + ": \"" + name + "\" is " + why);
    };
    if ((number_at<std::uint16_t>(fixed, 8) & 1) != 0) return refuse("encrypted and not read");
    if (number_at<std::uint16_t>(fixed, 10) != 0) {
      return refuse(
          "compressed, so no row of it can be read alone; write it with np.savez, not "
          "np.savez_compressed");
    }
    // The wide numbers that are there stand in this order.
    Wide wide(extra);
    const std::uint64_t bytes = wide.number(number_at<std::uint32_t>(fixed, 24));
    const std::uint64_t packed = wide.number(number_at<std::uint32_t>(fixed, 20));
    const std::uint64_t offset = wide.number(number_at<std::uint32_t>(fixed, 42));
    const bool inside = bytes == packed && offset < data_end && data_end - offset >= kLocalHeader &&
                        bytes <= data_end - offset - kLocalHeader;
    if (!inside || !wide.sound()) return damaged("the place of \"" + name + "\"");
    return StoredEntry{.name = std::move(name), .local_header = offset, .bytes = bytes};
  }

  // Bytes that belong to two entries would be read twice as often as the file says.
  Status check_overlap(const std::vector<StoredEntry>& entries, std::uint64_t data_end) const {
    std::vector<StoredEntry> sorted = entries;
    std::ranges::sort(sorted, {}, &StoredEntry::local_header);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::uint64_t end = i + 1 < sorted.size() ? sorted[i + 1].local_header : data_end;
      if (end - sorted[i].local_header < kLocalHeader + sorted[i].bytes) {
        return damaged("\"" + sorted[i].name + "\" lies over its neighbour");
      }
    }
    return {};
  }

  // The numbers of an entry that need more than 32 bits.
  class Wide {
   public:
    explicit Wide(std::string_view extra) {
      while (extra.size() >= 4) {
        const std::size_t bytes = number_at<std::uint16_t>(extra, 2);
        if (bytes > extra.size() - 4) return;
        if (number_at<std::uint16_t>(extra, 0) == kZip64Extra) left_ = extra.substr(4, bytes);
        extra.remove_prefix(4 + bytes);
      }
    }
    std::uint64_t number(std::uint32_t narrow) {
      if (narrow != kInZip64) return narrow;
      sound_ = sound_ && left_.size() >= 8;
      if (!sound_) return 0;
      const auto value = number_at<std::uint64_t>(left_, 0);
      left_.remove_prefix(8);
      return value;
    }
    bool sound() const { return sound_; }

   private:
    std::string_view left_;
    bool sound_ = true;
  };

  const InputFile& file_;
  std::string tail_;
  std::uint64_t tail_start_ = 0;
};

}  // namespace

Result<std::vector<StoredEntry>> read_zip_directory(const InputFile& file) {
  return Directory(file).read();
}

std::uint64_t local_header_bytes(std::span<const char> start) {
  const std::string_view bytes(start.data(), start.size());
  if (number_at<std::uint32_t>(bytes, 0) != kLocalMagic) return 0;
  return kLocalHeader + number_at<std::uint16_t>(bytes, 26) + number_at<std::uint16_t>(bytes, 28);
}

}  // namespace forebay::npy
