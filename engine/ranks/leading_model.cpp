#include "engine/ranks/leading_model.h"

#include "engine/ranks/merged_state.h"
#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/spec.h"

namespace forebay {

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
  leader_.command_step(batch.number, was_announced(batch.number));
  expected_.change([this](Expected& expected) { tell_more(expected); });
  auto loss = own_->step(batch);
  if (!loss) return tl::unexpected<Error>(leader_.explain(std::move(loss.error())));
  return loss;
}

Status LeadingModel::predict(const Batch& batch, std::span<float> scores) {
  leader_.command(RankCommand::Kind::kScore);
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
  std::vector<StateTensor> wanted;
  {
    auto own = own_->snapshot();
    if (!own) return pass(own);
    wanted = (*own)->tensors();
  }
  const RankLeader::OpenState open = std::exchange(open_, nullptr);
  if (auto begun = leader_.restore(open); !begun) return begun;
  auto source = open();
  if (!source) return pass(source);
  PartOfState part(lies_in_tiers(from) ? **source : from, wanted);
  auto own = own_->restore(part);
  auto others = leader_.wait_until_ready();
  return own ? others : own;
}

}  // namespace forebay
