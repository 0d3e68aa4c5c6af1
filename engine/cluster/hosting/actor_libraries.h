#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread/user_code.h"
#include "engine/actors/cluster/loaded_types.h"

namespace forebay {

/// Users' libraries of actors (include/forebay/cluster.h) in this process, and their types.
///
/// Owns the open libraries; no actor made by them may live longer. A crash in them is reported with
/// their names (core/base/thread/user_code.h).
class ActorLibraries {
 public:
  /// kInvalid names the library: it cannot be loaded, was cut short, is no library of actors or one
  /// for another version, or adds a type that another one has.
  static Result<std::unique_ptr<ActorLibraries>> load(const std::vector<std::string>& paths);
  ~ActorLibraries();

  const LoadedTypes& types() const { return types_; }

 private:
  class Library;

  ActorLibraries() = default;
  Status add(const std::string& path);

  std::vector<std::unique_ptr<Library>> libraries_;
  LoadedTypes types_;  // made by the libraries
};

}  // namespace forebay
