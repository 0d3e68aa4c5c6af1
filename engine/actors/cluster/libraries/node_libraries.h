#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/actors/cluster/libraries/library_messages.h"
#include "engine/actors/cluster/loaded_types.h"

namespace forebay {

/// The open libraries of a node, as its ActorNode uses them, on its turns.
class NodeLibraries {
 public:
  NodeLibraries() = default;
  virtual ~NodeLibraries() = default;
  NodeLibraries(const NodeLibraries&) = delete;
  NodeLibraries& operator=(const NodeLibraries&) = delete;

  virtual const LoadedTypes& types() const = 0;
  virtual std::vector<LibraryInfo> list() const = 0;
  /// Whether it opens libraries that others ship.
  virtual bool accepts_shipped() const = 0;
  /// A part of a library that this node ships. kNotFound: it ships no such one.
  virtual Result<LibraryChunk> read(const ReadLibrary& read) const = 0;
  /// Opens a library that came from another node and is whole; its file may go then. It is in the
  /// list from then on, as one that this node ships. kInvalid: it cannot be opened.
  virtual Result<LibraryInfo> open_shipped(const std::string& path) = 0;
};

}  // namespace forebay
