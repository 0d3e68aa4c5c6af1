#pragma once

#include <memory>

#include "actors/input/file_system.h"
#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/transfer/store_client.h"

namespace forebay {

/// Returns the table of all file systems that a job may name, for the process's environment.
FileSystems all_file_systems(StoreClientOptions options,
                             std::shared_ptr<IoCounts> counts = std::make_shared<IoCounts>());

/// Adds s3://, http:// and https:// to a table. They share one client, whose thread begins with its
/// first request, and count into the table's counts. Credentials are looked up here, but their lack
/// is an error of s3:// paths alone.
void add_stores(FileSystems& systems, StoreClientOptions options, const Environment& environment);

}  // namespace forebay
