#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "actors/format/text_format.h"
#include "actors/input/file_system.h"
#include "actors/source/index/file_index.h"
#include "actors/source/index/index_cache.h"
#include "actors/source/stored/unpack_room.h"
#include "core/base/result.h"

namespace forebay {

/// Callbacks and the memory limit of one pass over a file.
struct PassWatch {
  std::function<bool()> stopped;  ///< Called between pieces; true stops the pass.
  std::function<void(std::uint64_t stored_bytes)> progress;  ///< After each piece, with its size.
  std::function<void(std::span<const char> content)> copy;   ///< Receives each piece; may be empty.
  UnpackRoom room = {};                                      ///< Limit for the decoder's memory.
};

/// Returns the error of a pass that PassWatch::stopped ended.
Error stopped();

/// Calls `piece` with each piece of the content of `file`, in order. Fails with stopped() when
/// `watch.stopped` returns true, kInvalid when the content is larger than 2⁴⁰ bytes, kCorrupt when
/// the file changed meanwhile.
Status read_through(const InputFile& file, Codec codec, RestartLog* log, const PassWatch& watch,
                    const std::function<Status(std::span<const char>)>& piece);

/// Reads a text `file` once and finds its rows, blocks (as fine as the dataset may need), content
/// digest and restart points; writes the windows of the restart points to `writer`. Leaves path,
/// settings and agreement unset; the caller fills them in from the job.
Result<FileIndex> index_file(const InputFile& file, Codec codec, const TextFormat& format,
                             IndexWriter& writer, const PassWatch& watch);

}  // namespace forebay
