#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// Locks an open file or folder, without waiting, for as long as its descriptor is open: the kernel
/// releases the lock however the process ends. Returns false if another descriptor holds the lock,
/// of this process or of another one, and true on a file system that has no locks.
[[nodiscard]] bool try_lock(const Descriptor& file);

/// Opens and locks an existing folder until the returned descriptor is closed. kUnavailable: the
/// folder cannot be opened, or is locked; `taken` says by whom and what to do.
Result<Descriptor> lock_folder(const std::string& folder, const std::string& taken);

}  // namespace forebay
