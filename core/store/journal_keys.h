#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/store/store.h"

namespace forebay::journal {

/// The keys and records of a Journaled<State> in its store (core/store/README.md has the format).

inline constexpr const char* kSnapshotKey = "snapshot";

/// Keys sort by their number.
std::string event_key(std::uint64_t number);

/// Prefixes `bytes` with a checksum over them and `number`.
std::string with_checksum(std::uint64_t number, std::string_view bytes);

struct Snapshot {
  std::uint64_t last = 0;  ///< Number of the last event that it includes; 0: there is no snapshot.
  std::string state;
};

std::string snapshot_record(std::uint64_t last, std::string_view state);

/// Returns kCorrupt if there is a snapshot with a wrong checksum.
Result<Snapshot> read_snapshot(const Store& store);

/// Passes the events after `last` to `apply`, in order. At the first event that is missing, damaged
/// or refused, stops and erases it and all later ones. Returns the reason, or an empty string.
Result<std::string> replay(Store& store, std::uint64_t last,
                           const std::function<Status(std::string_view)>& apply);

}  // namespace forebay::journal
