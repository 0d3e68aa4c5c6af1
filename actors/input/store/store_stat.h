#pragma once

#include <memory>
#include <string>

#include "actors/input/file_system.h"
#include "actors/input/store/transfer/store_client.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// Asks for a file's size and version: by HEAD or, where a server refuses HEAD, by a request for
/// the first byte, whose answer gives the reason. Announces a version_doubt(). Errors like
/// FileSystem::stat().
Result<StoredVersion> stat_target(StoreClient& client, const std::shared_ptr<const Target>& target);

/// Returns what a server does that may let a change of a file go unnoticed, and by what changes are
/// noticed instead of a strong ETag: `gives no ETag: ...`; "" for a version with a strong one.
std::string version_doubt(const StoredVersion& version);

/// Returns the stamp of a version: its size, and 64 bits of a hash of its ETag or, without one, of
/// the time of its last change.
FileStamp stamp_of(const StoredVersion& version);

}  // namespace forebay
