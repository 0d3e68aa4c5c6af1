#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace forebay {

/// The header of each message between two transports, 24 bytes, numbers little-endian:
///
///     0  'F' 'b' 'y'   3  version   4  kind   5  lane   6  zeros   8  session   16  sequence
///
/// Entries follow in the same frame: 4 bytes of length, then the bytes. A message with frames has
/// one entry, and its frames follow unchanged.
struct WireHeader {
  static constexpr std::size_t kBytes = 24;
  static constexpr std::uint8_t kVersion = 1;

  enum class Kind : std::uint8_t {
    kHello = 1,     ///< Dialler → listener, on each lane: begins this session.
    kAccepted = 2,  ///< Listener → dialler, on each lane: the session has begun.
    kData = 3,      ///< Entries; numbered by `sequence` within lane and direction.
    kBeat = 4,      ///< Heartbeat.
    kBye = 5,       ///< The session is over; one entry says why.
  };

  std::array<char, 3> mark = {'F', 'b', 'y'};
  std::uint8_t version = kVersion;
  Kind kind = Kind::kData;
  std::uint8_t lane = 0;
  std::uint16_t zeros = 0;
  std::uint64_t session = 0;
  /// The number of a kData message; in kHello and kAccepted: the sender's heartbeat in ns or 0.
  std::uint64_t sequence = 0;

  void write(std::byte* to) const { std::memcpy(to, this, kBytes); }

  /// Whether `bytes` come from a Forebay transport of any version.
  static bool is_ours(std::span<const std::byte> bytes) {
    return bytes.size() >= kBytes && std::memcmp(bytes.data(), "Fby", 3) == 0;
  }
  static bool has_version(std::span<const std::byte> bytes) {
    return static_cast<std::uint8_t>(bytes[3]) == kVersion;
  }

  /// The header; nothing if `bytes` are not from a transport of this version, or are not valid.
  static std::optional<WireHeader> read(std::span<const std::byte> bytes) {
    if (!is_ours(bytes) || !has_version(bytes)) return std::nullopt;
    WireHeader header;
    std::memcpy(&header, bytes.data(), kBytes);
    const bool known = header.kind >= Kind::kHello && header.kind <= Kind::kBye && header.lane < 2;
    return known ? std::optional(header) : std::nullopt;
  }
};

static_assert(sizeof(WireHeader) == WireHeader::kBytes, "no gaps: it is sent as it stands");

/// The entries after a header, one by one.
class EntryReader {
 public:
  explicit EntryReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Nothing at the end, and where the bytes are incomplete.
  std::optional<std::span<const std::byte>> next() {
    std::uint32_t size = 0;
    if (bytes_.size() < sizeof(size)) return std::nullopt;
    std::memcpy(&size, bytes_.data(), sizeof(size));
    if (bytes_.size() - sizeof(size) < size) return std::nullopt;
    const auto entry = bytes_.subspan(sizeof(size), size);
    bytes_ = bytes_.subspan(sizeof(size) + size);
    return entry;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// Calls `take` with each entry after a header; returns false if the entries are incomplete.
template <class Visitor>
bool read_entries(std::span<const std::byte> bytes, Visitor take) {
  EntryReader entries(bytes);
  while (const auto entry = entries.next()) take(*entry);
  return entries.at_end();
}

}  // namespace forebay
