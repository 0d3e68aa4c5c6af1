#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "actors/source/file_index.h"
#include "actors/source/index_cache.h"
#include "actors/source/unpack_room.h"
#include "core/base/result.h"

namespace forebay {

/// Who looks on while a file is read once from its start to its end.
struct PassWatch {
  std::function<bool()> stopped;                             ///< Asked between pieces.
  std::function<void(std::uint64_t stored_bytes)> progress;  ///< Told the growth after each piece.
  std::function<void(std::span<const char> content)> copy;   ///< Is given each piece; may be empty.
  UnpackRoom room = {};                                      ///< For what the pass keeps unpacked.
};

/// What a pass fails with when the watch stops it.
Error stopped();

/// Hands the content of `file` piece by piece to `piece`. Fails with stopped() when the watch
/// says so; kCorrupt when the content is larger than 2⁴⁰ bytes or the file changed meanwhile.
Status read_through(const InputFile& file, Codec codec, RestartLog* log, const PassWatch& watch,
                    const std::function<Status(std::span<const char>)>& piece);

/// Reads `file` once and finds its rows, blocks (as fine as the dataset may need), content digest
/// and restart points; the latter's windows go to `writer`. What the job knows (path, settings,
/// agreement) stays unset.
Result<FileIndex> index_file(const InputFile& file, Codec codec, const Format& format,
                             IndexWriter& writer, const PassWatch& watch);

}  // namespace forebay
