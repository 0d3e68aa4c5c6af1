#include "engine/ranks/leading_model.h"

#include "engine/ranks/merged_state.h"
#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/spec.h"

namespace forebay {
namespace {

/// Takes part in rank 0's scoring without rows of its own.
Status score_nothing(const Schema& schema, Model& model) {
  Batch nothing;
  nothing.dense_features = schema.dense.size();
  nothing.sparse_features = schema.sparse.size();
  return model.predict(nothing, {});
}

Status carry_out(const RankCommand& command, RankFollower& leader, Model& model, Followed& done) {
  switch (command.kind) {
    case RankCommand::Kind::kStep: {
      if (command.has_ids) {
        if (auto told = leader.wait_for_ids(command.number); !told) return told;
      }
      auto slice = leader.slice(command.number);
      if (!slice) return pass(slice);
      auto loss = model.step(**slice);
      if (!loss) return pass(loss);
      done.batches += 1;
      done.rows += (*slice)->rows;
      return {};
    }
    case RankCommand::Kind::kScore:
      return score_nothing(leader.schema(), model);
    case RankCommand::Kind::kSnapshot:
      leader.take_back();
      leader.give(model.snapshot());
      return {};
    case RankCommand::Kind::kRestore:
      leader.take_back();
      leader.ready(restore_part(*leader.state(command), model));
      return {};
    case RankCommand::Kind::kMeet:
    case RankCommand::Kind::kAccept:
    case RankCommand::Kind::kEnd:
      break;
  }
  return fail(Code::kCorrupt, "rank 0 orders what this rank does not know");
}

}  // namespace

void LeadingModel::prefetch(std::shared_ptr<const Batch> batch) {
  if (dividers_.empty()) return;
  const bool forgets = batch == nullptr;
  expected_.change([&](Expected& expected) {
    if (forgets) {
      expected = {};
      leader_.forget_ids();
    } else {
      expected.waiting.push_back(std::move(batch));
      tell_more(expected);
    }
  });
  if (forgets) own_->prefetch(nullptr);
}

void LeadingModel::tell_more(Expected& expected) {
  while (!expected.waiting.empty() && expected.announced.size() < kMostExpectedBatches) {
    const std::shared_ptr<const Batch> batch = std::move(expected.waiting.front());
    expected.waiting.pop_front();
    if (tell(*batch)) expected.announced.push_back(batch->number);
  }
}

// A batch that cannot be divided is not announced; its step reports the error.
bool LeadingModel::tell(const Batch& batch) {
  for (BatchDivider& divider : dividers_) {
    if (!divider.divide(batch)) return false;
  }
  for (int rank = 1; rank < leader_.size(); ++rank) {
    leader_.tell_ids(rank, dividers_[static_cast<std::size_t>(rank)].sharded());
  }
  own_->prefetch(leader_.copy_of(dividers_[0].sharded()));
  return true;
}

bool LeadingModel::was_announced(std::uint64_t number) {
  return expected_.change([&](Expected& expected) {
    bool announced = false;
    while (!expected.announced.empty() && expected.announced.front() <= number) {
      announced = expected.announced.front() == number;
      expected.announced.pop_front();
    }
    auto& waiting = expected.waiting;
    while (!waiting.empty() && waiting.front()->number <= number) waiting.pop_front();
    return announced;
  });
}

Result<double> LeadingModel::step(const Batch& batch) {
  leader_.command({.kind = RankCommand::Kind::kStep,
                   .number = batch.number,
                   .has_ids = was_announced(batch.number)});
  expected_.change([this](Expected& expected) { tell_more(expected); });
  auto loss = own_->step(batch);
  if (!loss) return tl::unexpected<Error>(leader_.explain(std::move(loss.error())));
  return loss;
}

Status LeadingModel::predict(const Batch& batch, std::span<float> scores) {
  leader_.command({.kind = RankCommand::Kind::kScore});
  auto scored = own_->predict(batch, scores);
  if (!scored) return tl::unexpected<Error>(leader_.explain(std::move(scored.error())));
  return scored;
}

Result<std::unique_ptr<StateSource>> LeadingModel::snapshot() {
  auto others = leader_.snapshots();
  if (!others) return tl::unexpected<Error>(leader_.explain(std::move(others.error())));
  auto own = own_->snapshot();
  if (!own) return pass(own);
  std::vector<std::unique_ptr<StateSource>> all;
  all.reserve(others->size() + 1);
  all.push_back(std::move(*own));
  for (auto& other : *others) all.push_back(std::move(other));
  return std::make_unique<MergedState>(std::move(all));
}

Status LeadingModel::restore(StateSource& from) {
  const RankLeader::OpenState open = std::exchange(open_, nullptr);
  if (auto begun = leader_.restore(open); !begun) return begun;
  auto source = open();
  if (!source) return pass(source);
  auto own = restore_part(lies_in_tiers(from) ? **source : from, *own_);
  auto others = leader_.wait_until_ready();
  return own ? others : own;
}

Result<Followed> follow(RankFollower& leader, Model& model) {
  Followed done;
  leader.tell_ids([&model](std::shared_ptr<const Batch> ids) { model.prefetch(std::move(ids)); });
  for (;;) {
    auto command = leader.next_command();
    if (!command) return pass(command);
    if (command->kind == RankCommand::Kind::kEnd) {
      done.signal = static_cast<int>(command->number);
      if (command->ended) return done;
      return fail(command->ended.error().code, "rank 0: " + command->ended.error().message);
    }
    if (auto status = carry_out(*command, leader, model, done); !status) {
      Error error = leader.explain(std::move(status.error()));
      leader.failed(error);
      return tl::unexpected<Error>(std::move(error));
    }
  }
}

}  // namespace forebay
