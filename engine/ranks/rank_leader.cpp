#include "engine/ranks/rank_leader.h"

#include <chrono>
#include <utility>

#include "engine/ranks/rank_session.h"
#include "engine/ranks/remote_state.h"
#include "trainer/ranks/placement.h"

namespace forebay {
namespace {

constexpr std::size_t kAhead = 1;

}  // namespace

RankLeader::RankLeader(RankOptions options)
    : options_(std::move(options)),
      budget_(~std::size_t{0}),
      received_(~std::size_t{0}),
      buffers_(budget_) {}

Result<std::unique_ptr<RankLeader>> RankLeader::open(const RankOptions& options,
                                                     const Clock& clock) {
  auto leader = std::unique_ptr<RankLeader>(  // NOLINT: the constructor is private.
      new RankLeader(options));
  auto net = open_network(options, leader->received_, clock);
  if (!net) return pass(net);
  leader->net_ = std::move(*net);
  Node& node = leader->net_->node();
  const RankSessionParts parts{leader->options_, leader->group_, node};
  node.subscribe(leader->net_->actors().spawn(
      {.name = "rank door"}, [parts] { return std::make_unique<RankDoor>(parts); }));
  auto address = leader->net_->listen(options.address);
  if (!address) return pass(address);
  leader->address_ = std::move(*address);
  return leader;
}

RankLeader::~RankLeader() {
  end(fail(Code::kUnavailable, "rank 0 ended"));
  net_.reset();
}

void RankLeader::accept(const Schema& schema, const MostIds& ids) {
  RankCommand command{.kind = RankCommand::Kind::kAccept};
  command.schema.dense = schema.dense;
  command.schema.weight = schema.weight;
  command.schema.all_ids = ids.all;
  command.schema.ids = ids.of_feature;
  command.schema.repeated = schema.repeated;
  for (const SparseFeature& feature : schema.sparse) {
    command.schema.sparse.push_back(feature.name);
    command.schema.bounds.push_back(feature.bound);
  }
  group_.ask_all([&](int) { return command; });
}

Status RankLeader::restore(const OpenState& open) {
  RankCommand command{.kind = RankCommand::Kind::kRestore};
  std::vector<StateRef> served(1);  // by rank; rank 0 is not asked
  for (int rank = 1; rank < size(); ++rank) {
    auto source = open();
    if (!source) return pass(source);
    command.tensors = (*source)->tensors();
    served.push_back(group_.served(rank).serve(net_->actors(), std::move(*source)));
  }
  group_.ask_all([&](int rank) {
    command.from = served[static_cast<std::size_t>(rank)];
    return command;
  });
  return {};
}

Status RankLeader::wait_until_ready() {
  // Reading a large checkpoint may take long; heartbeats detect a lost rank meanwhile.
  if (auto ready = group_.wait_until_done(std::chrono::hours(24)); !ready) return pass(ready);
  for (int rank = 1; rank < size(); ++rank) group_.served(rank).take_back();
  return {};
}

Result<std::shared_ptr<const Batch>> RankLeader::next() {
  while (own_.size() <= kAhead && !reached_end_ && failed_) failed_ = pull();
  if (own_.empty()) {
    if (!failed_) return fail(failed_.error().code, failed_.error().message);
    return std::shared_ptr<const Batch>();
  }
  auto batch = std::move(own_.front());
  own_.pop_front();
  return batch;
}

Status RankLeader::pull() {
  auto batch = batches_->next();
  if (!batch) return pass(batch);
  reached_end_ = *batch == nullptr;
  if (!reached_end_) deal(**batch);
  return {};
}

void RankLeader::deal(const Batch& batch) {
  for (int rank = 0; rank < size(); ++rank) {
    const auto [first, end] = rows_of_rank(batch.rows, rank, size());
    auto slice = slice_rows(batch, first, end, buffers_);
    if (rank == 0) {
      own_.push_back(std::move(slice));
    } else {
      group_.send(rank, packed_slice(slice));
    }
  }
}

void RankLeader::tell_ids(int rank, const Batch& ids) {
  group_.tell(rank, packed_ids(copy_ids(ids, buffers_)));
}

void RankLeader::forget_ids() {
  const auto nothing = std::make_shared<std::byte>();
  group_.tell_all(ForgetIds{{Frame(nothing, nothing.get(), sizeof(std::byte))}});
}

Result<std::vector<std::unique_ptr<StateSource>>> RankLeader::snapshots() {
  group_.ask_all([](int) { return RankCommand{.kind = RankCommand::Kind::kSnapshot}; });
  auto taken = group_.wait_until_done(options_.timeout);
  if (!taken) return pass(taken);
  std::vector<std::unique_ptr<StateSource>> sources;
  for (RankDone& each : *taken) {
    const int rank = static_cast<int>(sources.size()) + 1;
    sources.push_back(std::make_unique<RemoteState>(name_of_rank(rank), std::move(each.tensors),
                                                    std::move(each.from)));
  }
  return sources;
}

}  // namespace forebay
