#pragma once

#include "core/node/node.h"
#include "core/runtime/actor.h"
#include "engine/ranks/rank_group.h"
#include "engine/ranks/rank_messages.h"
#include "engine/ranks/rank_options.h"

namespace forebay {

/// What the actors of rank 0 below need; all outlive them.
struct RankSessionParts {
  const RankOptions& options;
  RankGroup& group;
  Node& node;
};

/// Rank 0's actor for one session: asks the peer for its hello, then receives the messages of that
/// rank, which need not name their sender. Closes the session of a peer that is no rank of this
/// group. Ends with the session.
class RankSession final : public ActorOf<RankSession, PeerUp, Answered<RankCall>, Down, RankCredit,
                                         RankStop, RankFailed> {
 public:
  explicit RankSession(const RankSessionParts& parts) : parts_(parts) {}

  Status on(const PeerUp& up, Context& context);
  Status on(const Answered<RankCall>& answer, Context&);
  Status on(const Down& down, Context& context);
  Status on(const RankCredit& credit, Context&);
  Status on(const RankStop& stop, Context&);
  Status on(const RankFailed& failed, Context&);

 private:
  void close(const std::string& why);

  const RankSessionParts parts_;
  PeerId peer_ = PeerId::kNone;
  RankRef ref_;
  int rank_ = 0;  // 0: the peer has not said yet
};

/// Rank 0's actor that starts a RankSession for each peer.
class RankDoor final : public ActorOf<RankDoor, PeerUp, PeerDown> {
 public:
  explicit RankDoor(const RankSessionParts& parts) : parts_(parts) {}

  Status on(PeerUp&& up, Context& context);
  Status on(const PeerDown&, Context&) { return {}; }

 private:
  const RankSessionParts parts_;
};

}  // namespace forebay
