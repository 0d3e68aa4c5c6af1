#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "actors/source/index/file_index.h"
#include "actors/source/index/index_cache.h"
#include "actors/source/stored/byte_stream.h"
#include "core/base/result.h"
#include "core/data/digest.h"

// The state of the hash library; only index_pass.cpp includes its header.
struct XXH3_state_s;

namespace forebay {

/// Digest::of for content in pieces; the digest does not depend on how the content is cut.
class ContentDigest {
 public:
  ContentDigest();
  void add(std::span<const char> piece);
  Digest digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

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
