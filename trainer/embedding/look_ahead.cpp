#include "trainer/embedding/look_ahead.h"

#include <string_view>
#include <utility>

#include "core/runtime/actor.h"
#include "trainer/spec.h"

namespace forebay {
namespace {

/// The most prepared batches beside the current step's; the memory of each is counted in
/// model_bytes().
constexpr std::size_t kMostReady = kMostExpectedBatches;

}  // namespace

/// Pipeline → actor: prepare a batch, once that of the turn before is prepared.
struct LookAhead::Prepare {
  static constexpr std::string_view kTag = "trainer.prepare_batch/1";
  using Reply = PreparedPtr;
  std::shared_ptr<const Batch> batch;
  std::uint64_t turn = 0;
};

/// Model → actor: turns have ended, or a borrowed batch's slots are free.
struct LookAhead::TurnEnded {
  static constexpr std::string_view kTag = "trainer.turn_ended/1";
  std::unique_ptr<BatchRows> spare;  ///< May be null.
};

/// Asks the actor to drop the batches whose turns were cancelled; the answer comes when no batch is
/// being prepared.
struct LookAhead::Settle {
  static constexpr std::string_view kTag = "trainer.settle/1";
};

/// Batches that cannot be prepared yet wait in its state, so that it sees every message.
class LookAhead::Preparing final : public ActorOf<Preparing, Prepare, TurnEnded, Settle> {
 public:
  explicit Preparing(LookAhead& ahead) : ahead_(ahead) {}

  Result<PreparedPtr> on(Prepare&& next, std::unique_ptr<Replier<PreparedPtr>>& asker, Context&) {
    waiting_.push_back({std::move(next), std::move(asker), nullptr});
    if (waiting_.size() == 1) go_on();  // Those before it wait for the end of a turn.
    return PreparedPtr();
  }

  Status on(TurnEnded&& ended, Context&) {
    if (ended.spare != nullptr) spares_.push_back(std::move(ended.spare));
    go_on();
    return {};
  }

  Status on(const Settle&, Context&) {
    go_on();
    return {};
  }

 private:
  struct Waiting {
    Prepare next;
    std::unique_ptr<Replier<PreparedPtr>> asker;
    std::unique_ptr<BatchRows> rows;  ///< Null until they are found.
  };

  void go_on() {
    while (!waiting_.empty()) {
      Waiting& first = waiting_.front();
      if (first.next.turn > ahead_.finished_ + 1 + kMostReady) return;
      auto prepared = prepare(first);
      if (!prepared) return;
      first.asker->answer(std::move(*prepared));
      waiting_.pop_front();
    }
  }

  /// Returns nothing if the storage has no free slots now.
  std::optional<Result<PreparedPtr>> prepare(Waiting& batch) {
    if (ahead_.finished_ >= batch.next.turn) return fail(Code::kUnavailable, kPassedOver);
    if (batch.rows == nullptr) {
      batch.rows = spare();
      if (auto found = ahead_.find(*batch.next.batch, *batch.rows); !found) return pass(found);
    }
    if (!ahead_.storage_.looks_ahead()) return as_prepared(batch, {});
    return place(batch);
  }

  std::optional<Result<PreparedPtr>> place(Waiting& batch) {
    bool waits = false;
    std::vector<TableTiers> tiers;
    auto placed = ahead_.tables_.use([&]() -> Status {
      const std::uint64_t turn = batch.next.turn;
      const std::uint64_t finished = ahead_.finished_;
      if (finished >= turn) return fail(Code::kUnavailable, kPassedOver);
      ahead_.storage_.finish(finished);
      Status status = ahead_.storage_.prepare(*batch.rows, turn);
      tiers = ahead_.storage_.tiers();
      // If no earlier batch can free slots, this batch alone is too large.
      const bool others_hold_slots = finished + 1 < turn || ahead_.lent_;
      waits = !status && status.error().code == Code::kOverloaded && others_hold_slots;
      return status;
    });
    if (waits) return std::nullopt;
    if (!placed) return pass(placed);
    return as_prepared(batch, std::move(tiers));
  }

  static PreparedPtr as_prepared(Waiting& batch, std::vector<TableTiers> tiers) {
    return std::make_unique<Prepared>(Prepared{std::move(batch.rows), std::move(tiers)});
  }

  std::unique_ptr<BatchRows> spare() {
    if (spares_.empty()) return std::make_unique<BatchRows>();
    auto rows = std::move(spares_.back());
    spares_.pop_back();
    return rows;
  }

  static constexpr const char* kPassedOver = "the batch was passed over";

  LookAhead& ahead_;
  std::deque<Waiting> waiting_;
  std::vector<std::unique_ptr<BatchRows>> spares_;
};

LookAhead::LookAhead(TableStorage& storage, std::size_t shares, ThreadTeam* team)
    : storage_(storage), shares_(shares), finder_(storage.folds(), team), threads_(clock_) {
  const auto note_crash = [this](const Error& error) {
    crash_.change([&](std::string& what) { what = error.message; });
  };
  actor_ = threads_.spawn({.name = "looking ahead", .on_crash = note_crash},
                          [this] { return std::make_unique<Preparing>(*this); });
}

void LookAhead::prefetch(std::shared_ptr<const Batch> batch) {
  if (batch == nullptr) return forget();
  asking_([&] {
    const Batch* const announced = batch.get();
    const std::uint64_t number = announced->number;
    const std::uint64_t turn = ++turns_;
    asked_.push_back({announced, number, turn, ask(actor_, Prepare{std::move(batch), turn})});
  });
}

std::optional<LookAhead::Asked> LookAhead::take_asked(const Batch& batch) {
  return asking_([&]() -> std::optional<Asked> {
    const auto found = std::ranges::find_if(asked_, [&](const Asked& each) {
      return each.batch == &batch && each.number == batch.number;
    });
    if (found == asked_.end()) return std::nullopt;
    std::optional<Asked> asked(std::move(*found));
    asked_.erase(asked_.begin(), found + 1);
    return asked;
  });
}

void LookAhead::end_turns(std::uint64_t turn, std::unique_ptr<BatchRows> spare) {
  std::uint64_t before = finished_;
  while (before < turn && !finished_.compare_exchange_weak(before, turn)) {
  }
  // Refused only after a crash, which the next step reports.
  static_cast<void>(actor_.tell(TurnEnded{std::move(spare)}));
}

Result<const BatchRows*> LookAhead::begin(const Batch& batch, TableStorage::Use use) {
  if (use == TableStorage::Use::kScore) return borrow(batch, use);
  auto asked = take_asked(batch);
  if (!asked) {
    auto rows = borrow(batch, use);
    if (!rows) return rows;
    lookups_.all += (*rows)->lookups;
    lookups_.ready += (*rows)->lookups - (*rows)->fetched_lookups;
    return rows;
  }
  const std::uint64_t turn = asked->turn;
  if (finished_ + 1 < turn) end_turns(turn - 1, nullptr);
  const bool prepared = asked->answer.ready();
  const std::uint64_t to_come = prepared ? storage_.awaited(turn) : 0;
  auto answer = asked->answer.wait();
  if (!answer) return tl::unexpected<Error>(failure(std::move(answer.error())));
  Prepared& batch_now = **answer;
  if (!batch_now.tiers.empty()) tiers_ = std::move(batch_now.tiers);
  if (auto completed = complete(*batch_now.rows, turn); !completed) return pass(completed);
  now_ = std::move(batch_now.rows);
  turn_ = turn;
  lookups_.all += now_->lookups;
  lookups_.ready += now_->lookups - (prepared ? to_come : now_->fetched_lookups);
  return now_.get();
}

/// Does the part of the preparation that was left to the step.
Status LookAhead::complete(BatchRows& rows, std::uint64_t turn) {
  if (storage_.looks_ahead()) return storage_.await(turn);
  return tables_.use([&] {
    storage_.finish(turn - 1);
    Status status = storage_.prepare(rows, turn);
    tiers_ = storage_.tiers();
    return status;
  });
}

void LookAhead::end() {
  if (now_ == nullptr) return give_back();
  end_turns(turn_, std::move(now_));
}

Result<const BatchRows*> LookAhead::borrow(const Batch& batch, TableStorage::Use use) {
  return tables_.use([&]() -> Result<const BatchRows*> {
    storage_.finish(finished_);
    if (auto status = find(batch, borrowed_); !status) return pass(status);
    if (auto status = storage_.borrow(borrowed_, use); !status) return pass(status);
    tiers_ = storage_.tiers();
    lent_ = true;
    return &borrowed_;
  });
}

void LookAhead::give_back() {
  const auto given = tables_.use([&]() -> Status {
    storage_.give_back(borrowed_);
    lent_ = false;
    return {};
  });
  if (given) end_turns(0, nullptr);
}

void LookAhead::forget() {
  end_turns(asking_([this] {
              asked_.clear();
              return turns_;
            }),
            nullptr);
  static_cast<void>(ask(actor_, Settle{}).wait());  // An error: nothing is being prepared any more.
}

// A crash is noted before any batch is answered because of it.
Error LookAhead::failure(Error answer) const {
  const std::string crash = crash_.change([](const std::string& known) { return known; });
  if (!crash.empty()) return {Code::kUnavailable, std::string(kFailed) + ": " + crash};
  return answer;
}

}  // namespace forebay
