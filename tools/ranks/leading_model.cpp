#include "tools/ranks/leading_model.h"

#include <utility>

#include "tools/ranks/merged_state.h"

namespace forebay {

Result<double> LeadingModel::step(const Batch& batch) {
  leader_.order(RankOrder::Kind::kStep, batch.number);
  auto loss = own_->step(batch);
  if (!loss) return tl::unexpected<Error>(leader_.explain(std::move(loss.error())));
  return loss;
}

Status LeadingModel::predict(const Batch& batch, std::span<float> scores) {
  leader_.order(RankOrder::Kind::kScore);
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
  if (auto begun = leader_.restore(open_); !begun) return begun;
  PartOfState part(from, wanted);
  auto own = own_->restore(part);
  auto others = leader_.wait_until_ready();
  return own ? others : own;
}

}  // namespace forebay
