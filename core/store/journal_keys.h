#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/store/store.h"

namespace forebay::journal {

/// How a Journaled<State> lies in its store (core/store/README.md has the format).

inline constexpr const char* kSnapshotKey = "snapshot";

/// Sorts as its number does.
std::string event_key(std::uint64_t number);

/// `bytes` behind a checksum over them and `number`.
std::string with_checksum(std::uint64_t number, std::string_view bytes);

struct Snapshot {
  std::uint64_t last = 0;  ///< Number of the last event in it; 0: there is none.
  std::string state;
};

std::string snapshot_record(std::uint64_t last, std::string_view state);

/// kCorrupt when there is one and its checksum is wrong.
Result<Snapshot> read_snapshot(const Store& store);

/// Hands the events after `last` to `apply`, in order. At the first that is missing, damaged or
/// refused it stops and erases that one and all behind it. Returns why, or nothing.
Result<std::string> replay(Store& store, std::uint64_t last,
                           const std::function<Status(std::string_view)>& apply);

}  // namespace forebay::journal
