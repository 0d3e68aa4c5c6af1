#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/store.h"
#include "engine/actors/cluster/directory/actor_table.h"

namespace forebay {

/// A directory's actors and their kept states in the head's store, under the keys `actors/record/`
/// and `actors/state/` with the actor's name.
///
/// Gathers changes until write(), which costs one sync. Belongs to one thread; the store outlives
/// it.
class ActorStore {
 public:
  using Bytes = std::vector<std::byte>;

  explicit ActorStore(Store& store) : store_(store) {}

  /// Gives each stored actor to `take`, and what is wrong with a record that cannot be read to
  /// `skipped`. kUnavailable: the disk cannot be read.
  Status load(const std::function<void(const ActorRecord&)>& take,
              const std::function<void(const Error&)>& skipped) const;

  /// The next write stores this actor as the table has it then, or erases it if it has ended.
  void change(const std::string& name) { changed_.insert(name); }
  /// The next write stores this state, if the actor of this birth has not ended by then.
  void keep(const std::string& name, std::uint64_t birth, Bytes state);
  /// Bytes of states that the next write stores.
  std::size_t waiting_bytes() const { return waiting_bytes_; }

  /// Writes all changes together. If the disk refuses them, states are dropped, and the actors are
  /// written again next time.
  Status write(const ActorTable& table);

  /// The state on the disk that the actor of this birth has kept; empty if there is none. kCorrupt,
  /// kUnavailable: it cannot be read.
  Result<Bytes> state(const std::string& name, std::uint64_t birth) const;

 private:
  struct Kept {
    std::uint64_t birth = 0;
    Bytes state;
    static auto fields(auto& self) { return std::tie(self.birth, self.state); }
  };

  Store& store_;
  std::set<std::string> changed_;
  std::map<std::string, Kept> kept_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace forebay
