#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/actors/cluster/libraries/incoming_library.h"
#include "engine/actors/cluster/libraries/library_messages.h"
#include "engine/actors/cluster/libraries/node_libraries.h"

namespace forebay {

/// Fetches the libraries that other nodes ship to this one, one after the other, part after part,
/// and opens them. Decides what to ask for; the caller asks.
///
/// `libraries` outlives it. Belongs to one thread.
class LibraryFetch {
 public:
  explicit LibraryFetch(NodeLibraries& libraries) : libraries_(libraries) {}

  /// Others ship this library. One that is here, on its way, or was refused before is left out.
  /// kInvalid: this node takes none, or not this one; it is refused from then on.
  Status want(const TakeLibrary& take);
  /// What to ask the head for now; nothing while an answer is awaited.
  std::optional<ReadLibrary> ask();
  /// The answer. Returns the library if it is open now. An error names it: it was refused, or no
  /// node ships it any more. Other failures of an answer have it asked for again.
  Result<std::optional<LibraryInfo>> take(const Result<LibraryChunk>& answer);

 private:
  bool is_known(const std::string& digest) const;
  Result<std::optional<LibraryInfo>> take_part(const LibraryChunk& part);
  Error give_up(const Error& why);

  NodeLibraries& libraries_;
  std::deque<TakeLibrary> wanted_;  // the first one is on its way
  std::unique_ptr<IncomingLibrary> incoming_;
  std::set<std::string> refused_;  // digests; at most kMostLibraries, then nothing is wanted
  bool asked_ = false;
};

}  // namespace forebay
