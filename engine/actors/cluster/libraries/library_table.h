#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/actors/cluster/libraries/library_messages.h"

namespace forebay {

/// The libraries of a cluster's nodes, as a head knows them.
///
/// Pure: decides, and sends nothing. Belongs to one thread.
class LibraryTable {
 public:
  /// kInvalid: the node has too many, one that cannot be, or a type from another library than
  /// another node has it from.
  Status check(const std::string& node, const std::vector<LibraryInfo>& libraries) const;
  /// These are all libraries of the node. `accepts`: it takes those that others ship.
  void set(const std::string& node, std::vector<LibraryInfo> libraries, bool accepts);
  /// The node has one more. As check(), also if it has it already; kNotFound: there is no such
  /// node.
  Status add(const std::string& node, const LibraryInfo& library);
  void remove(const std::string& node) { nodes_.erase(node); }

  /// For each node that accepts libraries, those that others ship and it lacks.
  std::map<std::string, std::vector<TakeLibrary>> lacking() const;
  /// What a node lacks that does not accept libraries.
  std::vector<TakeLibrary> refused_by(const std::string& node) const;
  /// The node to read the library from, or null if no node ships it.
  const std::string* source(const std::string& digest) const;

 private:
  struct Node {
    std::vector<LibraryInfo> libraries;
    bool accepts = false;
  };
  using Shipped = std::map<std::string, TakeLibrary>;  // by digest
  Shipped shipped() const;
  static std::vector<TakeLibrary> lacks(const Node& node, const Shipped& shipped);

  std::map<std::string, Node> nodes_;
};

}  // namespace forebay
