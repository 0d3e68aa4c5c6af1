#include "engine/ranks/rank_session.h"

#include <memory>
#include <string>
#include <utility>

namespace forebay {

Status RankDoor::on(PeerUp&& up, Context& context) {
  const auto session = parts_.node.host().spawn(
      {.name = "rank session"}, [parts = parts_] { return std::make_unique<RankSession>(parts); });
  static_cast<void>(context.tell(session, std::move(up)));  // Refused at the end of the run.
  return {};
}

Status RankSession::on(const PeerUp& up, Context& context) {
  peer_ = up.peer;
  ref_ = parts_.node.actor<RankRef>(peer_, kRankName);
  watch(ref_, ActorRef<Down>(self(context)));
  context.ask(ref_, RankCall{self(context)}, parts_.options.timeout, self(context));
  return {};
}

Status RankSession::on(const Answered<RankCall>& answer, Context&) {
  if (!answer.result) {
    close("no rank of this run");
  } else if (auto came = parts_.group.come(*answer.result, ref_); !came) {
    close(came.error().message);
  } else {
    rank_ = static_cast<int>(answer.result->rank);
  }
  return {};
}

void RankSession::close(const std::string& why) { parts_.node.transport().close(peer_, why); }

// A peer without the actor of a rank is down at once.
Status RankSession::on(const Down& down, Context& context) {
  if (rank_ > 0) {
    parts_.group.lose(rank_, down.crash ? down.crash->message : "gone");
  } else {
    close("no rank of this run");
  }
  context.stop();
  return {};
}

Status RankSession::on(const RankCredit& credit, Context&) {
  if (rank_ > 0) parts_.group.add_credits(rank_, credit.slices);
  return {};
}

Status RankSession::on(const RankStop& stop, Context&) {
  if (rank_ > 0 && parts_.options.on_stop) parts_.options.on_stop(stop.signal);
  return {};
}

Status RankSession::on(const RankFailed& failed, Context&) {
  if (rank_ > 0) parts_.group.failed(rank_, failed.why.message);
  return {};
}

}  // namespace forebay
