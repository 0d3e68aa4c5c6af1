#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/actors/cluster/cluster_messages.h"
#include "engine/actors/local_target.h"
#include "engine/cluster/hosting/actor_libraries.h"
#include "engine/network/network_endpoint.h"

namespace forebay {

/// A worker's users' actors: their libraries, and their part in the cluster (ActorNode).
///
/// Owns the libraries. Its actors live in the endpoint, which ends before this object does.
class ActorHosting {
 public:
  struct Options {
    std::string name;
    ActorLibraries::Options libraries;
    std::string listen;  ///< Where programs reach the actors: "H:P"; "": any port, see open().
    bool has_keys = false;
    std::uint64_t cpus = 0;  ///< That its actors may need together, as is the memory.
    std::uint64_t memory_bytes = 0;
    actors::ObjectLimits objects = {};
    std::function<void(const std::string&)> say = {};
  };

  /// Loads the libraries. kInvalid: see ActorLibraries::load.
  static Result<std::unique_ptr<ActorHosting>> load(Options options);

  /// Listens, and joins the directory that `directory` finds, now and in each later session.
  /// Without an address: on every interface with keys, on loopback without.
  Status open(NetworkEndpoint& net, std::function<DirectoryRef()> directory);

 private:
  ActorHosting(Options options, std::unique_ptr<ActorLibraries> libraries)
      : options_(std::move(options)), libraries_(std::move(libraries)) {}

  const Options options_;
  const std::unique_ptr<ActorLibraries> libraries_;
  std::unique_ptr<UserHost> host_;
};

}  // namespace forebay
