#include "core/store/journaled.h"

#include "core/base/random.h"
#include "core/base/text/hex.h"
#include "core/data/digest.h"

namespace forebay::journal {
namespace {

constexpr std::string_view kEventPrefix = "event/";
constexpr std::size_t kNumberBytes = 8;  // Size of a checksum, too.

/// 8 bytes, little-endian.
std::string bytes_of(std::uint64_t number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

std::string checksum(std::uint64_t number, std::string_view bytes) {
  return bytes_of(mix64(number, Digest::of(bytes.data(), bytes.size()).low));
}

/// The bytes after the checksum; an error if the checksum does not match.
Result<std::string_view> checked(std::uint64_t number, std::string_view record) {
  if (record.size() < kNumberBytes) return fail(Code::kCorrupt, "it is torn");
  const std::string_view bytes = record.substr(kNumberBytes);
  if (checksum(number, bytes) != record.substr(0, kNumberBytes)) {
    return fail(Code::kCorrupt, "its checksum is wrong");
  }
  return bytes;
}

Status erase_from(Store& store, std::uint64_t number) {
  StoreBatch batch;
  auto status = store.scan(kEventPrefix, event_key(number), [&batch](auto key, auto) {
    batch.erase(std::string(key));
    return true;
  });
  if (!status) return status;
  return batch.changes().empty() ? Status() : store.write(batch);
}

}  // namespace

std::string event_key(std::uint64_t number) {
  return std::string(kEventPrefix) + hex_digits(number);
}

std::string with_checksum(std::uint64_t number, std::string_view bytes) {
  return checksum(number, bytes).append(bytes);
}

std::string snapshot_record(std::uint64_t last, std::string_view state) {
  return with_checksum(0, bytes_of(last).append(state));
}

Result<Snapshot> read_snapshot(const Store& store) {
  auto record = store.get(kSnapshotKey);
  if (!record && record.error().code == Code::kNotFound) return Snapshot{};
  if (!record) return pass(record);
  auto bytes = checked(0, *record);
  if (!bytes || bytes->size() < kNumberBytes) {
    return fail(Code::kCorrupt,
                "the store's snapshot is damaged; move the store's folder away: a run resumes from "
                "its checkpoint without it");
  }
  return Snapshot{.last = number_in(*bytes), .state = std::string(bytes->substr(kNumberBytes))};
}

Result<std::string> replay(Store& store, std::uint64_t last,
                           const std::function<Status(std::string_view)>& apply) {
  std::string why;
  std::uint64_t number = last;
  auto status =
      store.scan(kEventPrefix, event_key(last + 1), [&](std::string_view key, auto record) {
        if (key != event_key(number + 1)) {
          why = "it is missing";
          return false;
        }
        auto bytes = checked(number + 1, record);
        auto applied = bytes ? apply(*bytes) : Status(pass(bytes));
        if (!applied) {
          why = applied.error().message;
          return false;
        }
        ++number;
        return true;
      });
  if (!status) return pass(status);
  if (why.empty()) return why;
  if (auto erased = erase_from(store, number + 1); !erased) return pass(erased);
  return "the journal was cut before event " + std::to_string(number + 1) + ": " + why;
}

}  // namespace forebay::journal
