#include "actors/stage/stage_pools.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace forebay {
namespace {

/// Threads that open files in a store, each of which waits for an answer, and begin reads.
constexpr std::size_t kBeginners = 4;

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

/// One actor of a pool: takes a split through the stages of its group, measures each of them, and
/// hands the result on.
class StagePools::Actor final : public PoolWorker<Split> {
 public:
  Actor(StagePools& pools, std::size_t first)
      : pools_(pools), first_(first), ended_(pools.options_.clock.now()) {
    prepare_for(pools.end_of_group(first));
  }

  Status on(Split&& split, PoolContext& context) override {
    const std::size_t end = pools_.end_of_group(first_);
    Status status = end > first_ + 1 ? take_through(end, std::move(split), context)
                                     : take_alone(std::move(split), context);
    ended_ = pools_.options_.clock.now();
    return status;
  }

 private:
  /// While it exists, the actor has a split in FusedWork; also if a stage throws.
  class InWork {
   public:
    InWork(FusedWork& work, FusedWork::ActorId actor, std::size_t end, FusedWork::Time waited)
        : work_(work), actor_(actor) {
      work_.begin(actor, end, waited);
    }
    ~InWork() { work_.leave(actor_); }
    InWork(const InWork&) = delete;
    InWork& operator=(const InWork&) = delete;

   private:
    FusedWork& work_;
    const FusedWork::ActorId actor_;
  };

  /// Makes what the stages up to `end` need; of a group that has shrunk, it is kept.
  void prepare_for(std::size_t end) {
    for (std::size_t stage = first_ + workers_.size(); stage < end; ++stage) {
      workers_.push_back(std::make_unique<StageWorker>(
          pools_.stages_[stage], pools_.options_.inputs, pools_.transform_context_));
    }
    if (end > first_ + 1 && !meter_) meter_.emplace();
  }

  Status run(std::size_t step, Split& split, PoolContext& context) {
    const Clock& clock = pools_.options_.clock;
    SplitTimes::Span span{.begin = clock.now()};
    auto status = workers_[step]->run(split, [&] { return context.cancelled(); });
    span.end = clock.now();
    if (status) split.times.stages.push_back(span);
    return status;
  }

  Status take_alone(Split&& split, PoolContext& context) {
    if (auto status = run(0, split, context); !status) return status;
    return pools_.hand_on(first_, std::move(split), context);
  }

  // The pool's meter of service counts the first stage alone, as it does without a group; the
  // actor's own meter counts the others.
  Status take_through(std::size_t end, Split&& split, PoolContext& context) {
    prepare_for(end);
    const Clock& clock = pools_.options_.clock;
    const FusedWork::ActorId actor{.first = first_, .number = context.actor()};
    const InWork work(pools_.fused_, actor, end, clock.now() - ended_);
    std::vector<FusedWork::Done> done(end - first_);
    auto status = run(0, split, context);
    context.service()->pause(clock.now());
    for (std::size_t step = 1; status && step < done.size(); ++step) {
      pools_.fused_.enter(actor, first_ + step);
      done[step].bytes = split.bytes();
      meter_->start(clock.now(), pools_.wanted_[first_], true);
      status = run(step, split, context);
      done[step].service = meter_->finish(clock.now());
    }
    context.service()->resume(clock.now());
    if (!status) return status;
    pools_.fused_.finish(actor, done);
    return pools_.hand_on(end - 1, std::move(split), context);
  }

  StagePools& pools_;
  const std::size_t first_;
  std::vector<std::unique_ptr<StageWorker>> workers_;  // of the largest group so far
  std::optional<ServiceMeter> meter_;  // of the stages behind the first; holds a descriptor
  std::chrono::nanoseconds ended_;     // of the last split
};

/// Begins to read the blocks of splits in a store, all that are issued: their bytes are reserved,
/// and a store answers many requests as fast as one.
class StagePools::Beginner final : public PoolWorker<Split> {
 public:
  explicit Beginner(StagePools& pools)
      : pools_(pools), reader_(pools.options_.inputs.dataset, pools.options_.inputs.buffers) {}

  Status on(Split&& split, PoolContext&) override {
    auto begun = reader_.begin(split.raw.blocks);
    if (!begun) return pass(begun);
    split.begun = std::move(*begun);
    pools_.pools_.front()->offer(std::move(split), 0);
    return {};
  }

 private:
  StagePools& pools_;
  SplitReader reader_;
};

StagePools::StagePools(Options options)
    : options_(std::move(options)),
      stages_(options_.inputs.plan.stages()),
      fused_(stages_.size(), options_.clock),
      file_names_(file_names_of(options_.inputs.dataset)),
      transform_context_{options_.inputs.buffers, options_.inputs.seed, file_names_, nullptr,
                         options_.inputs.dataset.format().units() != nullptr},
      wanted_(stages_.size()),
      joined_(stages_.size()),
      decode_(static_cast<std::size_t>(
          std::ranges::find(stages_, StageInfo::Kind::kDecode, &StageInfo::kind) -
          stages_.begin())),
      parts_(options_.inputs.plan),
      queues_(stages_.size(), options_.cpus) {
  FOREBAY_CHECK(options_.actors.size() == stages_.size());
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    wanted_[stage] = options_.actors[stage];
    joined_[stage] = stage > 0 && options_.groups.joins_next(stage - 1) && !assembles(stage);
    pools_.push_back(std::make_unique<StagePool<Split>>(options_of(stage), options_.clock));
  }
  if (!options_.inputs.dataset.is_remote()) return;
  begin_ = std::make_unique<StagePool<Split>>(
      split_pool("begin", kUnbounded, options_.owner,
                 [this] { return std::make_unique<Beginner>(*this); }),
      options_.clock);
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
  for (std::size_t stage = size(); stage-- > 0;) {
    pools_[stage]->resize(joined_[stage] ? 0 : wanted_[stage].load());
  }
  if (begin_ != nullptr) begin_->resize(kBeginners);
}

void StagePools::make(Split split) {
  split.times.stages.reserve(size());
  SplitCut made = cut(split.raw.blocks);
  if (made.is_whole()) {
    offer_to_load(std::move(split));
    return;
  }
  const auto assembly = assembly_of(split, made);
  for (std::size_t i = 0; i < made.pieces.size(); ++i) {
    if (!assembly->needs(i)) continue;
    Split piece{.id = split.id, .part = static_cast<std::uint32_t>(i), .assembly = assembly};
    piece.share = split.share;
    piece.raw.blocks = std::move(made.pieces[i]);
    offer_to_load(std::move(piece));
  }
}

// Where the rows run in one lane, every part has rows of every rank.
std::shared_ptr<SplitAssembly> StagePools::assembly_of(const Split& split, const SplitCut& cut) {
  if (split.share == nullptr || split.share->lanes == 1) {
    return std::make_shared<SplitAssembly>(split.id, cut.pieces.size(), cut.parts);
  }
  std::vector<std::size_t> rows;
  std::size_t block = 0;
  for (const auto& piece : cut.pieces) {
    rows.push_back(0);
    for (std::size_t i = 0; i < piece.size(); ++i) rows.back() += split.share->block_rows[block++];
  }
  return std::make_shared<SplitAssembly>(split.id, rows, cut.parts, split.share);
}

void StagePools::offer_to_load(Split&& split) {
  (begin_ != nullptr ? begin_ : pools_.front())->offer(std::move(split), 0);
}

SplitCut StagePools::cut(const std::vector<BlockRef>& blocks) const {
  const StageInputs& inputs = options_.inputs;
  if (!inputs.dataset.in_grains()) return {.pieces = {blocks}};
  return cut_split(blocks, inputs.dataset.format().decoded_bytes(Extent::of(blocks)),
                   inputs.permutes_rows);
}

// The last piece of a split of grains brings its parts to the next stage.
void StagePools::collect(Split&& piece) {
  const std::shared_ptr<SplitAssembly> split = piece.assembly;
  if (!split->add(std::move(piece))) return;
  if (options_.owner.takes(split->id(), split->rows())) make_parts(parts_.add(split));
}

void StagePools::make_parts(std::vector<Split> parts) {
  for (Split& part : parts) pools_[decode_ + 1]->offer(std::move(part), 0);
}

// A closed pool means that the run is being stopped; it drops the split.
Status StagePools::hand_on(std::size_t from, Split&& split, PoolContext& context) {
  const std::size_t to = from + 1;
  if (to == size()) return options_.owner.put(std::move(split), context);
  if (from == decode_ && split.assembly != nullptr) {
    collect(std::move(split));
    return {};
  }
  const std::size_t bytes = split.bytes();
  pools_[to]->offer(std::move(split), bytes, context);
  return {};
}

StageGroups StagePools::groups() const {
  std::vector<bool> joined;
  for (std::size_t stage = 1; stage < size(); ++stage) joined.push_back(joined_[stage]);
  return StageGroups(std::move(joined));
}

/// The stage behind the last one of the group that begins with `first`.
std::size_t StagePools::end_of_group(std::size_t first) const {
  std::size_t end = first + 1;
  while (end < joined_.size() && joined_[end]) ++end;
  return end;
}

/// Whether each split of the stage is made of all pieces of one before: it cannot join that stage.
bool StagePools::assembles(std::size_t stage) const {
  return options_.inputs.dataset.in_grains() && stage == decode_ + 1;
}

Status StagePools::resize(std::size_t stage, std::uint32_t actors) {
  if (actors == 0) return join_to_previous(stage);
  const std::uint32_t before = joined_[stage] ? 0 : wanted_[stage].load();
  const std::uint64_t more = actors > before ? actors - before : 0;
  const std::uint64_t children = children_bytes() + more * bytes_of_actor(stage);
  if (more > 0 &&
      !options_.owner.has_room_for(std::max(threads(), actors_wanted()) + more, children)) {
    return fail(Code::kOverloaded, "no memory for another actor's thread");
  }
  regroup(stage, actors, false);
  return {};
}

Status StagePools::join_to_previous(std::size_t stage) {
  if (stage == 0) return fail(Code::kInvalid, "the first stage has at least one actor");
  if (assembles(stage)) return fail(Code::kInvalid, "a stage behind decode cannot join it here");
  regroup(stage, wanted_[stage - 1], true);
  return {};
}

/// The group that the stage begins, or belongs to from now on, has so many actors.
void StagePools::regroup(std::size_t stage, std::uint32_t actors, bool joined) {
  const std::size_t end = end_of_group(stage);
  for (std::size_t each = stage; each < end; ++each) wanted_[each] = actors;
  joined_[stage] = joined;
  options_.owner.resized();
  pools_[stage]->resize(joined ? 0 : actors);
  options_.owner.resized();
}

// The memory of the child processes of one actor of a group.
std::uint64_t StagePools::bytes_of_actor(std::size_t first) const {
  std::uint64_t bytes = 0;
  for (std::size_t stage = first; stage < end_of_group(first); ++stage) {
    bytes += options_.inputs.plan.actor_bytes(stages_[stage]);
  }
  return bytes;
}

void StagePools::fit_queues() {
  const std::chrono::nanoseconds now = options_.clock.now();
  if (!queues_.due(now)) return;
  std::vector<PoolStats> pools;
  pools.reserve(size());
  for (const auto& pool : pools_) pools.push_back(pool->stats());
  const std::vector<std::size_t> firsts = groups().firsts(size());
  queues_.observe({.at = now,
                   .cpu = thread_cpu_time(CLOCK_PROCESS_CPUTIME_ID),  // of all its threads
                   .pools = pools,
                   .firsts = firsts});
  for (std::size_t stage = 1; stage < size(); ++stage) {
    const std::size_t bytes = queues_.times(stage) * options_.mailbox_bytes;
    if (bytes != pools[stage].mailbox_bytes) pools_[stage]->set_mailbox_bytes(bytes);
  }
  deepened_.store(queues_.deepened(), std::memory_order_relaxed);
}

void StagePools::cancel() {
  if (begin_ != nullptr) begin_->cancel();
  for (const auto& pool : pools_) pool->cancel();
}

void StagePools::join() {
  if (begin_ != nullptr) begin_->join();
  for (const auto& pool : pools_) pool->join();
}

std::vector<std::uint32_t> StagePools::actors() const { return {wanted_.begin(), wanted_.end()}; }

std::uint64_t StagePools::actors_wanted() const { return total_actors(groups(), actors()); }

std::uint64_t StagePools::threads() const {
  std::uint64_t all = 0;
  for (const auto& pool : pools_) all += pool->actors();
  return all + (begin_ != nullptr ? begin_->actors() : 0);
}

std::uint64_t StagePools::children_bytes() const {
  std::uint64_t bytes = 0;
  for (const std::size_t first : groups().firsts(size())) {
    const std::uint64_t each = bytes_of_actor(first);
    if (each == 0) continue;
    bytes += each * std::max<std::uint64_t>(wanted_[first], pools_[first]->actors());
  }
  return bytes;
}

std::vector<StageStats> StagePools::stats() const {
  const FusedWork::Sums fused = fused_.sums();
  std::vector<StageStats> stats;
  stats.reserve(size());
  for (const auto& pool : pools_) stats.push_back({pool->name(), pool->stats()});
  fused_.attribute(fused, groups(), stats);
  return stats;
}

}  // namespace forebay
