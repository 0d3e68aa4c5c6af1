#pragma once

#include <cstdint>
#include <vector>

#include "actors/input/store/storage_spec.h"

namespace forebay {

/// Wanted bytes of a file and where they go; null: they are read and thrown away.
struct Wanted {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  char* out = nullptr;
  void* owner = nullptr;  ///< Who wants them; for the caller.

  std::uint64_t end() const { return offset + bytes; }
};

/// How wanted bytes become requests.
struct RangeRule {
  /// No request is larger.
  std::uint64_t part_bytes = std::uint64_t{8} << 20;
  /// A gap up to this size is read and thrown away, since another request costs more.
  std::uint64_t gap_bytes = std::uint64_t{512} << 10;
};

/// Returns the rule for a store: the largest gap that neither takes longer nor costs more to read
/// than to leave out.
///
/// Time: of `connections` requests in flight each one takes its share of the wait for a first byte,
/// in which 32 MiB come (60 ms at 5 Gbit/s): with 64 connections as long as 512 KiB. Money: a gap
/// of request_price / byte_price costs as much as a request: at $0.0004 for 1,000 and $0.02 a GB
/// 20 kB; where bytes are free time alone decides.
RangeRule rule_for(const StorageSpec& storage);

/// One request: a range of a file and the wanted bytes in it, by offset, without overlaps. Bytes
/// between them are thrown away.
struct PlannedRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::vector<Wanted> wanted;

  std::uint64_t end() const { return offset + bytes; }
};

/// Divides `wanted`, of one file and in any order, into as few ranges as the rule allows. Wanted
/// bytes that overlap those of another read are in a range of their own. Empty ones are left out.
/// Pure.
std::vector<PlannedRange> plan_ranges(std::vector<Wanted> wanted, const RangeRule& rule);

}  // namespace forebay
