#include "engine/actors/objects/sent_object.h"

#include "core/node/node_link.h"

namespace forebay {
namespace {

/// Lives in the tables of one session, which drop it when the peer stops it and when the session
/// ends.
class Loan final : public Receiver {
 public:
  explicit Loan(ObjectKeepPtr keep)
      : Receiver(keep->host(), keep->host().next_id()), keep_(std::move(keep)) {}

  Status push(EnvelopePtr&, MailboxCredit) override {
    return fail(Code::kInvalid, "a loan takes no messages");
  }
  void watch(ReceiverPtr) override {}
  void stop_behind_queue() override {}

 private:
  const ObjectKeepPtr keep_;
};

/// The receiver's end of a loan.
class Borrowed final : public ObjectKeep {
 public:
  explicit Borrowed(ActorRef<> loan)
      : ObjectKeep(loan.receiver()->host()), loan_(std::move(loan)) {}
  ~Borrowed() override { loan_.stop(); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  const ActorRef<> loan_;
};

}  // namespace

AnyActor lend(const ObjectKeepPtr& keep) {
  return keep == nullptr ? AnyActor() : AnyActor(std::make_shared<Loan>(keep), {});
}

ObjectKeepPtr borrow(const ActorRef<>& loan) {
  // To return it stops it; a peer must not name an actor here that would be stopped so.
  const bool is_peers = dynamic_cast<const RemoteActor*>(loan.receiver().get()) != nullptr;
  return is_peers ? std::make_shared<const Borrowed>(loan) : nullptr;
}

}  // namespace forebay
