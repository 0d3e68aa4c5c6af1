#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "core/runtime/message.h"

namespace forebay {

/// The holders of one object, and the source of each: the owner's view.
///
/// Processes that fetch an object form a chain, since each serves at most one other while a source
/// without one is left; so the owner's link carries the bytes once. A value; belongs to one thread.
class ObjectSources {
 public:
  /// The holder serves others at `address`; empty: it cannot be reached by them.
  void add(ActorId holder, const std::string& address) { holders_[holder].address = address; }
  void remove(ActorId holder);
  bool empty() const { return holders_.empty(); }
  bool has(ActorId holder) const { return holders_.contains(holder); }

  /// The address of the process from which this holder is to fetch; empty: from the owner.
  /// `failed`: the source before, which gave it nothing; empty: there was none.
  std::string choose(ActorId holder, const std::string& failed);
  /// The holder has all bytes.
  void complete(ActorId holder);

 private:
  struct Holder {
    std::string address;
    bool fetches = false;  ///< Or has the bytes.
    bool is_complete = false;
    ActorId source = ActorId::kNobody;  ///< kNobody: the owner.
    std::set<std::string> failed = {};  ///< Sources that it does not try again.
  };

  std::map<ActorId, std::size_t> loads() const;
  bool depends(ActorId holder, ActorId on) const;

  std::map<ActorId, Holder> holders_;
};

}  // namespace forebay
