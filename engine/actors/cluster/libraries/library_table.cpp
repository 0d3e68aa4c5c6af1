#include "engine/actors/cluster/libraries/library_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/data/digest.h"
#include "engine/actors/cluster/directory/actor_record.h"

namespace forebay {
namespace {

bool has(const std::vector<LibraryInfo>& libraries, const std::string& digest) {
  return std::any_of(libraries.begin(), libraries.end(),
                     [&digest](const LibraryInfo& one) { return one.digest == digest; });
}

/// A type that both have, or null.
const std::string* common_type(const LibraryInfo& one, const LibraryInfo& other) {
  for (const std::string& type : one.types) {
    const auto& types = other.types;
    if (std::find(types.begin(), types.end(), type) != types.end()) return &type;
  }
  return nullptr;
}

/// Whether actors of one node could not move to the other.
Status check_agreement(const LibraryInfo& mine, const std::string& other_node,
                       const LibraryInfo& theirs) {
  if (mine.digest == theirs.digest) return {};
  const std::string* type = common_type(mine, theirs);
  if (type == nullptr) return {};
  return fail(Code::kInvalid, "its library " + mine.name + " differs from " + theirs.name +
                                  " of node " + other_node + ", and both have the type " + *type +
                                  "; give both nodes one file, or start one with --ship and the "
                                  "other with --accept-shipped instead of --actors");
}

}  // namespace

Status check(const LibraryInfo& library) {
  Digest digest;
  if (!is_actor_name(library.name) || library.name == "." || library.name == ".." ||
      library.name.find('/') != std::string::npos) {
    return fail(Code::kInvalid, "a library's file must have a name of one line and 1 to 128 bytes");
  }
  if (!Digest::parse(library.digest, digest) || library.types.size() > kMostTypes ||
      !std::all_of(library.types.begin(), library.types.end(), is_actor_name)) {
    return fail(Code::kInvalid, "its library " + library.name + " has a digest or types that no " +
                                    "library of this program has");
  }
  if (library.ships && (library.bytes == 0 || library.bytes > kMostLibraryBytes)) {
    return fail(Code::kInvalid, "its library " + library.name + " takes " +
                                    std::to_string(library.bytes) +
                                    " bytes; libraries of 1 byte to 256 MiB are shipped");
  }
  return {};
}

Status LibraryTable::check(const std::string& node,
                           const std::vector<LibraryInfo>& libraries) const {
  std::size_t types = 0;
  for (const LibraryInfo& library : libraries) {
    if (auto status = forebay::check(library); !status) return status;
    types += library.types.size();
  }
  if (libraries.size() > kMostLibraries || types > kMostTypes) {
    return fail(Code::kInvalid, "it has more than 64 libraries or 1024 types");
  }
  for (const auto& [name, other] : nodes_) {
    if (name == node) continue;
    for (const LibraryInfo& theirs : other.libraries) {
      for (const LibraryInfo& mine : libraries) {
        if (auto status = check_agreement(mine, name, theirs); !status) return status;
      }
    }
  }
  return {};
}

void LibraryTable::set(const std::string& node, std::vector<LibraryInfo> libraries, bool accepts) {
  nodes_[node] = {std::move(libraries), accepts};
}

Status LibraryTable::add(const std::string& node, const LibraryInfo& library) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return fail(Code::kNotFound, "it has not registered");
  std::vector<LibraryInfo> libraries = found->second.libraries;
  if (has(libraries, library.digest)) {
    return fail(Code::kInvalid, "it has said before that it has this library");
  }
  libraries.push_back(library);
  if (auto status = check(node, libraries); !status) return status;
  found->second.libraries = std::move(libraries);
  return {};
}

/// Each shipped library once, by the first node that ships it.
LibraryTable::Shipped LibraryTable::shipped() const {
  Shipped all;
  for (const auto& [name, node] : nodes_) {
    for (const LibraryInfo& library : node.libraries) {
      if (library.ships && !all.contains(library.digest)) {
        all.emplace(library.digest, TakeLibrary{library, name});
      }
    }
  }
  return all;
}

std::vector<TakeLibrary> LibraryTable::lacks(const Node& node, const Shipped& shipped) {
  std::vector<TakeLibrary> all;
  for (const auto& [digest, take] : shipped) {
    if (!has(node.libraries, digest)) all.push_back(take);
  }
  return all;
}

std::map<std::string, std::vector<TakeLibrary>> LibraryTable::lacking() const {
  std::map<std::string, std::vector<TakeLibrary>> all;
  const Shipped offered = shipped();
  for (const auto& [name, node] : nodes_) {
    if (node.accepts) all.emplace(name, lacks(node, offered));
  }
  return all;
}

std::vector<TakeLibrary> LibraryTable::refused_by(const std::string& node) const {
  const auto found = nodes_.find(node);
  const bool asked = found != nodes_.end() && !found->second.accepts;
  return asked ? lacks(found->second, shipped()) : std::vector<TakeLibrary>();
}

const std::string* LibraryTable::source(const std::string& digest) const {
  for (const auto& [name, node] : nodes_) {
    for (const LibraryInfo& library : node.libraries) {
      if (library.ships && library.digest == digest) return &name;
    }
  }
  return nullptr;
}

}  // namespace forebay
