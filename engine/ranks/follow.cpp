#include "engine/ranks/follow.h"

#include <utility>
#include <vector>

#include "engine/ranks/merged_state.h"

namespace forebay {
namespace {

/// Takes part in rank 0's scoring without rows of its own.
Status score_nothing(const Schema& schema, Model& model) {
  Batch nothing;
  nothing.dense_features = schema.dense.size();
  nothing.sparse_features = schema.sparse.size();
  return model.predict(nothing, {});
}

/// Restores this rank's part of a state.
Status restore_part(StateSource& whole, Model& model) {
  std::vector<StateTensor> wanted;
  {
    auto own = model.snapshot();
    if (!own) return pass(own);
    wanted = (*own)->tensors();
  }
  PartOfState part(whole, wanted);
  return model.restore(part);
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
    case RankCommand::Kind::kEnd:
    case RankCommand::Kind::kMeet:
      break;
  }
  return fail(Code::kCorrupt, "rank 0 orders what this rank does not know");
}

}  // namespace

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
