#include "engine/actors/cluster/named_actor.h"

namespace forebay {
namespace {

/// An error because of which no answer can come, with the actor and its node.
Error with_place(const Error& error, const std::string& name, const std::string& node) {
  if (error.code != Code::kUnavailable) return error;
  return {error.code, "actor " + name + " on node " + node + ": " + error.message};
}

}  // namespace

Status NamedActor::push(EnvelopePtr& envelope, MailboxCredit credit) {
  if (envelope->type != kTypeOf<UserMessage>) {
    return fail(Code::kInvalid, "an actor of the cluster takes no other messages than a user's");
  }
  ReceiverPtr at;
  std::shared_ptr<const Place> place;
  Error refusal;
  now_.change([&](const Now& now) {
    at = now.at;
    place = now.place;
    if (at == nullptr) refusal = now.refusal;
  });
  if (at == nullptr) return tl::unexpected<Error>(std::move(refusal));
  auto& message = static_cast<EnvelopeOf<UserMessage>&>(*envelope);
  if (message.replier != nullptr) {
    // An asker is told whose answer does not come; this object may be gone by then.
    message.replier = reply_to<UserValue>(
        [name = name_, place, asker = std::move(message.replier)](Result<UserValue> answer) {
          if (place->cut_off) {
            answer = fail(Code::kUnavailable, "its node was lost before the answer came");
          }
          if (!answer) answer.error() = with_place(answer.error(), name, place->node);
          asker->answer(std::move(answer));
        });
  }
  Status status = at->push(envelope, credit);
  if (!status) return tl::unexpected<Error>(with_place(status.error(), name_, place->node));
  return status;
}

void NamedActor::watch(ReceiverPtr watcher) {
  std::optional<Down> down;
  now_.change([&](Now& now) {
    if (now.at != nullptr) {
      now.watchers.push_back(watcher);
    } else {
      down = Down{id(), now.crash};
    }
  });
  if (down) deliver(*watcher, std::move(*down));
}

std::shared_ptr<WaitingWork> NamedActor::waiting_work() const {
  return now_.change([](const Now& now) -> std::shared_ptr<WaitingWork> {
    return now.at == nullptr ? nullptr : now.at->waiting_work();
  });
}

void NamedActor::stop_behind_queue() {
  ReceiverPtr at;
  now_.change([&at](const Now& now) { at = now.at; });
  if (at != nullptr) at->stop_behind_queue();
}

void NamedActor::move_to(const std::string& node, ReceiverPtr at) {
  now_.change([&](Now& now) {
    // A later search has found it again; cut_off() still ends questions asked before.
    if (now.at == at) return;
    now.at = std::move(at);
    now.place = std::make_shared<Place>(node);
    now.crash.reset();
  });
}

void NamedActor::lose(const std::optional<Error>& crash) {
  std::vector<ReceiverPtr> watchers;
  std::optional<Error> told;
  now_.change([&](Now& now) {
    now.at = nullptr;
    if (crash) now.crash = with_place(*crash, name_, now.place->node);
    told = now.crash;
    now.refusal = {Code::kUnavailable, "actor " + name_ + " was on node " + now.place->node +
                                           (crash ? ", " + crash->message : ", and ended") +
                                           "; where it is now is being looked up"};
    watchers = std::exchange(now.watchers, {});
  });
  for (const ReceiverPtr& watcher : watchers) deliver(*watcher, Down{id(), told});
}

void NamedActor::cut_off(const Error& why) {
  now_.change([](Now& now) { now.place->cut_off = true; });
  lose(why);
}

void NamedActor::end(const Error& why) {
  now_.change([&](Now& now) {
    now.at = nullptr;
    now.refusal = why;
  });
}

}  // namespace forebay
