#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/wire/frame.h"

namespace forebay {

/// Of one library that is sent to other nodes, and of one answer with a part of it.
inline constexpr std::uint64_t kMostLibraryBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kLibraryChunk = std::size_t{1} << 20;
/// Libraries of one node, and their types together.
inline constexpr std::size_t kMostLibraries = 64;
inline constexpr std::size_t kMostTypes = 1024;

/// A library of actors that a node has opened.
struct LibraryInfo {
  std::string name;  ///< Of its file, without a folder.
  std::uint64_t bytes = 0;
  std::string digest;  ///< LibraryDigest::hex().
  std::vector<std::string> types;
  bool ships = false;  ///< The node sends it to nodes that lack it.
  static auto fields(auto& self) {
    return std::tie(self.name, self.bytes, self.digest, self.types, self.ships);
  }
};

/// Head → node: others ship this library, and you lack it. `from` names one of them.
struct TakeLibrary {
  static constexpr std::string_view kTag = "actors.take_library/1";
  LibraryInfo library;
  std::string from;
  static auto fields(auto& self) { return std::tie(self.library, self.from); }
};

/// kLibraryChunk bytes of a library; the last part has fewer. A frame, since heartbeats overtake
/// frames.
struct LibraryChunk {
  Frames bytes;
  static auto fields(auto& self) { return std::tie(self.bytes); }
};

/// Node → head, and head → a node that ships the library: a part of it. kNotFound: no node ships
/// it.
struct ReadLibrary {
  static constexpr std::string_view kTag = "actors.read_library/1";
  using Reply = LibraryChunk;
  std::string digest;
  std::uint64_t offset = 0;
  static auto fields(auto& self) { return std::tie(self.digest, self.offset); }
};

/// Node → head: it has opened a library that another one shipped.
struct LibraryLoaded {
  static constexpr std::string_view kTag = "actors.library_loaded/1";
  std::string node;
  LibraryInfo library;
  static auto fields(auto& self) { return std::tie(self.node, self.library); }
};

/// kInvalid if no node of this program says this of a library.
Status check(const LibraryInfo& library);

}  // namespace forebay
