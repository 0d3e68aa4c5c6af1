#include "actors/stage/stage_pools.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

std::vector<std::string> file_names_of(const Dataset& dataset) {
  std::vector<std::string> names;
  names.reserve(dataset.files().size());
  for (const DatasetFile& file : dataset.files()) names.push_back(file.name);
  return names;
}

}  // namespace

StagePool<Split>::Options split_pool(std::string name, std::size_t mailbox_bytes, StageOwner& owner,
                                     std::function<std::unique_ptr<PoolWorker<Split>>()> factory) {
  StagePool<Split>::Options made;
  made.name = std::move(name);
  made.mailbox_bytes = mailbox_bytes;
  made.order = PoolOrder::kLowestKey;
  made.measures_service = true;
  made.factory = std::move(factory);
  made.on_failure = [&owner](const Error& error) { owner.failed(error); };
  return made;
}

/// One actor of a stage's pool: runs the stage's worker, takes its time and hands its result on.
class StagePools::Actor final : public PoolWorker<Split> {
 public:
  Actor(StagePools& pools, std::size_t stage)
      : pools_(pools),
        stage_(stage),
        worker_(pools.stages_[stage], pools.options_.inputs, pools.transform_context_) {}

  Status on(Split&& split, PoolContext& context) override {
    const Clock& clock = pools_.options_.clock;
    SplitTimes::Span span{.begin = clock.now()};
    if (auto status = worker_.run(split); !status) return status;
    span.end = clock.now();
    split.times.stages.push_back(span);
    return pools_.hand_on(stage_ + 1, std::move(split), context);
  }

 private:
  StagePools& pools_;
  const std::size_t stage_;
  StageWorker worker_;
};

StagePools::StagePools(Options options)
    : options_(std::move(options)),
      stages_(options_.inputs.plan.stages()),
      file_names_(file_names_of(options_.inputs.dataset)),
      transform_context_{options_.inputs.buffers, options_.inputs.seed, file_names_},
      wanted_(stages_.size()) {
  FOREBAY_CHECK(options_.actors.size() == stages_.size());
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    wanted_[stage] = options_.actors[stage];
    pools_.push_back(std::make_unique<StagePool<Split>>(options_of(stage), options_.clock));
  }
}

// An actor offers splits to the next pool, and the owner may ask for all pools' threads while it
// takes one: every thread ends before any pool is destroyed.
StagePools::~StagePools() {
  cancel();
  join();
}

StagePool<Split>::Options StagePools::options_of(std::size_t stage) {
  return split_pool(stages_[stage].name, stage == 0 ? kUnbounded : options_.mailbox_bytes,
                    options_.owner,
                    [this, stage] { return std::make_unique<Actor>(*this, stage); });
}

void StagePools::start() {
  for (std::size_t stage = size(); stage-- > 0;) pools_[stage]->resize(wanted_[stage]);
}

void StagePools::make(Split split) {
  split.times.stages.reserve(size());
  pools_.front()->offer(std::move(split), 0);
}

// A closed pool means that the run is being stopped; it drops the split.
Status StagePools::hand_on(std::size_t to, Split&& split, PoolContext& context) {
  if (to == size()) return options_.owner.put(std::move(split), context);
  const std::size_t bytes = split.bytes();
  pools_[to]->offer(std::move(split), bytes, context);
  return {};
}

Status StagePools::resize(std::size_t stage, std::uint32_t actors) {
  if (actors < 1) return fail(Code::kInvalid, "a stage has at least one actor");
  const std::uint32_t before = wanted_[stage];
  const std::uint64_t more = actors > before ? actors - before : 0;
  if (more > 0 && !options_.owner.has_room_for(std::max(threads(), actors_wanted()) + more)) {
    return fail(Code::kOverloaded, "no memory for another actor's thread");
  }
  wanted_[stage] = actors;
  options_.owner.resized();
  pools_[stage]->resize(actors);
  options_.owner.resized();
  return {};
}

void StagePools::cancel() {
  for (const auto& pool : pools_) pool->cancel();
}

void StagePools::join() {
  for (const auto& pool : pools_) pool->join();
}

std::vector<std::uint32_t> StagePools::actors() const { return {wanted_.begin(), wanted_.end()}; }

std::uint64_t StagePools::actors_wanted() const {
  return std::accumulate(wanted_.begin(), wanted_.end(), std::uint64_t{0});
}

std::uint64_t StagePools::threads() const {
  std::uint64_t all = 0;
  for (const auto& pool : pools_) all += pool->actors();
  return all;
}

std::vector<StageStats> StagePools::stats() const {
  std::vector<StageStats> stats;
  stats.reserve(size());
  for (const auto& pool : pools_) stats.push_back({pool->name(), pool->stats()});
  return stats;
}

}  // namespace forebay
