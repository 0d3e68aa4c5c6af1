#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/actors/cluster/libraries/node_libraries.h"
#include "engine/actors/cluster/loaded_types.h"

namespace forebay {

/// Users' libraries of actors (include/forebay/cluster.h) in this process, and their types.
///
/// Owns the open libraries and their files; no actor made by them may live longer. A crash in them
/// is reported with their names (core/base/thread/user_code.h).
class ActorLibraries final : public NodeLibraries {
 public:
  struct Options {
    std::vector<std::string> paths;
    bool ship = false;            ///< Those of `paths` are sent to other nodes.
    bool accept_shipped = false;  ///< Those that other nodes ship are opened.
  };

  /// kInvalid names the library: it cannot be loaded, was cut short, is no library of actors or one
  /// for another version, adds a type that another one has, or is too large to be shipped.
  static Result<std::unique_ptr<ActorLibraries>> load(const Options& options);
  ~ActorLibraries() override;

  const LoadedTypes& types() const override { return types_; }
  std::vector<LibraryInfo> list() const override;
  bool accepts_shipped() const override { return accepts_shipped_; }
  Result<LibraryChunk> read(const ReadLibrary& read) const override;
  Result<LibraryInfo> open_shipped(const std::string& path) override;

 private:
  class Library;

  explicit ActorLibraries(bool accepts_shipped);
  /// `label` names it after a crash.
  Result<LibraryInfo> add(const std::string& path, const std::string& label, bool ships);

  const bool accepts_shipped_;
  std::vector<std::unique_ptr<Library>> libraries_;
  LoadedTypes types_;  // made by the libraries
};

}  // namespace forebay
