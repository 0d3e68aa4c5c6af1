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
  /// kInvalid names it: this node takes none, or not this one, and refuses it from then on; or the
  /// message is none of a head's.
  Status want(const TakeLibrary& take);
  /// What to ask the head for now; nothing while an answer is awaited.
  std::optional<ReadLibrary> ask();
  /// The answer. Returns the library if it is open now. An error names it: it was refused; or the
  /// answer failed, and it is given up, or, where that may pass, asked for again. Of several such
  /// failures in a row only the first is returned.
  Result<std::optional<LibraryInfo>> take(const Result<LibraryChunk>& answer);

 private:
  bool is_known(const std::string& digest) const;
  Result<std::optional<LibraryInfo>> take_part(const LibraryChunk& part);
  Error name(const Error& why) const;
  Error give_up(const Error& why);
  Result<std::optional<LibraryInfo>> no_part(const Error& why);

  NodeLibraries& libraries_;
  std::deque<TakeLibrary> wanted_;  // the first one is on its way
  std::unique_ptr<IncomingLibrary> incoming_;
  std::set<std::string> refused_;  // digests; at most kMostLibraries, then nothing is wanted
  bool asked_ = false;
  bool failing_ = false;  // the last answer failed, and was said
};

}  // namespace forebay
