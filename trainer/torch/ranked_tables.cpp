#include "trainer/torch/ranked_tables.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "trainer/torch/dense_network.h"
#include "trainer/torch/kernels/repeated_bags.h"

namespace forebay {

ReplicatedTables::ReplicatedTables(Collective& ranks, std::unique_ptr<EmbeddingTables> tables,
                                   std::vector<std::int64_t> table_rows, std::size_t width)
    : ranks_(ranks), tables_(std::move(tables)), table_rows_(std::move(table_rows)), width_(width) {
  first_sum_.push_back(0);
  for (const std::int64_t rows : table_rows_) {
    first_sum_.push_back(first_sum_.back() + static_cast<std::size_t>(rows) * width_);
  }
  sums_.resize(first_sum_.back());
}

Status ReplicatedTables::begin(const Batch& mine, EmbeddingTables::Use use, int threads) {
  mine_ = &mine;
  lists_ = BatchLists(mine);
  auto rows = tables_->begin(mine, use);
  if (!rows) return pass(rows);
  rows_ = *rows;
  if (pooled_.size() < tables() * batch_floats()) pooled_.resize(tables() * batch_floats());
  for_each_task(threads, tables(), [&](std::size_t table, int) {
    tables_->pool(table, *rows_, rows_->first_id[table], lists_.lengths(table),
                  pooled_.data() + table * batch_floats(), width_);
  });
  return {};
}

void ReplicatedTables::start_sums(std::span<const float* const> gradients, int threads) {
  for_each_task(threads, tables(),
                [&](std::size_t table, int) { add_up(table, gradients[table]); });
  pending_ = ranks_.start_all_reduce(sums_);
}

void ReplicatedTables::add_up(std::size_t table, const float* gradients) {
  const std::span<float> sums = this->sums(table);
  std::ranges::fill(sums, 0.0f);
  const EmbeddingTables::GradientRun run{lists_.count(table), gradients};
  tables_->add_up(table, lists_.lengths(table), *rows_, {&run, 1});
  const std::span<const std::int32_t> slots = rows_->slots_of(table);
  const float* from = tables_->sums(table).data();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t to = static_cast<std::size_t>(slots[i]) * width_;
    std::memcpy(sums.data() + to, from + i * width_, width_ * sizeof(float));
  }
}

// A row without a gradient stays unchanged, with every optimizer: it is skipped.
bool ReplicatedTables::apply(std::size_t table, float learning_rate) {
  const std::span<float> all = sums(table);
  std::vector<std::int32_t> slots;
  slots.reserve(all.size() / width_);
  for (std::size_t row = 0; row * width_ < all.size(); ++row) {
    const std::span<const float> sum = all.subspan(row * width_, width_);
    if (std::ranges::all_of(sum, [](float value) { return value == 0; })) continue;
    // Moves the sum to the front, over rows that were processed already.
    std::ranges::copy(sum, all.data() + slots.size() * width_);
    slots.push_back(static_cast<std::int32_t>(row));
  }
  return tables_->apply(table, slots, all.data(), learning_rate);
}

RankedTables::RankedTables(Collective& ranks, const ModelShape& whole,
                           const TablePlacement& placement, Parts parts,
                           TrainerSpec::Pooling pooling)
    : own_(parts.shards),
      rank_(static_cast<std::size_t>(ranks.rank())),
      width_(whole.row_width()),
      mean_(pooling == TrainerSpec::Pooling::kMean),
      homes_(whole.table_rows.size()),
      divider_(whole.table_rows, placement),
      id_exchange_(ranks, {placement.owners(), ranks.size()}),
      exchange_(ranks, {placement.owners(), ranks.size()}, width_),
      by_list_(whole.table_rows.size()),
      gradients_of_(whole.table_rows.size()) {
  shard_of_.reserve(placement.shards.size());
  for (const TableShard& shard : placement.shards) {
    Home& home = homes_[shard.feature];
    if (home.shards++ == 0) home.first_shard = shard_of_.size();
    shard_of_.push_back(shard.feature);
  }
  std::size_t replica = 0;
  for (const std::size_t feature : placement.replicated) homes_[feature].replica = replica++;
  if (parts.replicas == nullptr) return;
  replicas_.emplace(ranks, std::move(parts.replicas), replicas_of(whole, placement).table_rows,
                    width_);
}

Status RankedTables::begin(const Batch& mine, Use use, int threads) {
  mine_ = &mine;
  dealt_ = use == Use::kTrain ? take_dealt(mine.number) : nullptr;
  const auto what = dealt_ ? BatchDivider::What::kReplicas : BatchDivider::What::kAll;
  if (auto divided = divider_.divide(mine, what); !divided) return divided;
  lists_ = BatchLists(mine);
  shard_lists_.clear();
  for (const std::size_t feature : shard_of_) shard_lists_.push_back(lists_.count(feature));
  auto begun = begin_shards(use, threads);
  if (begun) begun = exchange_.wait();
  if (!begun) end();
  return begun;
}

void RankedTables::prefetch(const std::shared_ptr<const Batch>& ids) {
  {
    const std::lock_guard lock(mutex_);
    if (ids == nullptr) {
      expected_.clear();
    } else {
      expected_.push_back(ids);
    }
  }
  own_.prefetch(ids);
}

std::shared_ptr<const Batch> RankedTables::take_dealt(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(expected_, number, &Batch::number);
  if (found == expected_.end()) return nullptr;
  auto dealt = std::move(*found);
  expected_.erase(expected_.begin(), found + 1);
  return dealt;
}

Status RankedTables::find_ids() {
  if (dealt_) {
    if (auto taken = take_dealt_rows(); !taken) return taken;
    ids_ = dealt_.get();
  } else {
    auto ids = id_exchange_.exchange(divider_.sharded());
    if (!ids) return pass(ids);
    ids_ = *ids;
    first_rows_ = id_exchange_.first_rows();
  }
  owned_lists_ = BatchLists(*ids_);
  return exchange_.begin(
      {.ids = *ids_, .id_lists = owned_lists_, .first_rows = first_rows_, .lists = shard_lists_});
}

Status RankedTables::take_dealt_rows() {
  const auto ranks = static_cast<int>(exchange_.parts());
  first_rows_.assign(1, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    first_rows_.push_back(rows_of_rank(dealt_->rows, rank, ranks).second);
  }
  if (first_rows_[rank_ + 1] - first_rows_[rank_] == mine_->rows) return {};
  return fail(Code::kCorrupt, "the ids of batch " + std::to_string(dealt_->number) +
                                  " that came before the step are those of other rows");
}

// The vectors of the replicas are computed while the others are in flight.
Status RankedTables::begin_shards(Use use, int threads) {
  if (auto found = find_ids(); !found) return found;
  auto rows = own_.begin(*ids_, use);
  if (!rows) return pass(rows);
  rows_ = *rows;
  for_each_task(threads, shards(), [&](std::size_t shard, int) { pool(shard); });
  exchange_.start_vectors();
  return replicas_ ? replicas_->begin(divider_.replicated(), use, threads) : Status();
}

void RankedTables::end() {
  if (replicas_) replicas_->end();
  if (std::exchange(rows_, nullptr) != nullptr) own_.end();
  dealt_.reset();
}

LookupCounts RankedTables::lookups() const {
  LookupCounts counts = own_.lookups();
  if (replicas_) {
    const LookupCounts more = replicas_->own().lookups();
    counts.all += more.all;
    counts.ready += more.ready;
  }
  return counts;
}

std::vector<TableTiers> RankedTables::tiers() const {
  std::vector<TableTiers> tables = own_.tiers();
  if (!replicas_) return tables;
  const std::vector<TableTiers> more = replicas_->own().tiers();
  tables.insert(tables.end(), more.begin(), more.end());
  return tables;
}

void RankedTables::pool(std::size_t table) {
  std::size_t id = rows_->first_id[table];
  for (std::size_t rank = 0; rank < exchange_.parts(); ++rank) {
    const VectorExchange::Part part = exchange_.part(table, rank);
    const auto lengths = owned_lists_.lengths(table).subspan(part.first_list, part.lists);
    id += own_.pool(table, *rows_, id, lengths, part.vectors, width_);
  }
}

float RankedTables::share_of(std::size_t feature, std::size_t row) const {
  if (!mean_ || homes_[feature].replica != kNone) return 1;
  const std::int32_t length = mine_->lengths[feature * mine_->rows + row];
  return length > 1 ? 1 / static_cast<float>(length) : 1;
}

void RankedTables::put(std::size_t first, std::size_t rows, const VectorLocations& places) const {
  for (std::size_t feature = 0; feature < homes_.size(); ++feature) {
    for (std::size_t row = 0; row < rows; ++row) {
      put_one(feature, first + row, places.at(feature, row));
    }
  }
}

void RankedTables::put_one(std::size_t feature, std::size_t row, float* to) const {
  const Home& home = homes_[feature];
  const float* from = home.replica == kNone ? exchange_.vectors(home.first_shard)
                                            : replicas_->vectors(home.replica);
  const std::size_t at = lists_.number(feature, row) * width_;
  std::memcpy(to, from + at, width_ * sizeof(float));
  for (std::size_t shard = 1; shard < home.shards; ++shard) {
    const float* more = exchange_.vectors(home.first_shard + shard) + at;
    for (std::size_t i = 0; i < width_; ++i) to[i] += more[i];
  }
  const float share = share_of(feature, row);
  if (share == 1) return;
  for (std::size_t i = 0; i < width_; ++i) to[i] *= share;
}

void RankedTables::scale_to_means(float* gradients) const {
  for (std::size_t feature = 0; mean_ && feature < homes_.size(); ++feature) {
    for (std::size_t row = 0; row < mine_->rows; ++row) {
      const float share = share_of(feature, row);
      float* gradient = gradients + feature * batch_floats() + row * width_;
      for (std::size_t i = 0; share != 1 && i < width_; ++i) gradient[i] *= share;
    }
  }
}

void RankedTables::sum_by_lists(const float* gradients, int threads) {
  for_each_task(threads, homes_.size(), [&](std::size_t feature, int) {
    const std::span of_rows(gradients + feature * batch_floats(), batch_floats());
    gradients_of_[feature] = of_rows.data();
    const BatchRepeats* repeats = lists_.repeats(feature);
    if (repeats == nullptr) return;
    ListGradients& lists = by_list_[feature];
    lists.sums.resize(repeats->unique * width_);
    sum_by_list(*repeats, of_rows, lists.exact, lists.sums);
    gradients_of_[feature] = lists.sums.data();
  });
}

void RankedTables::start_gradients(float* gradients, int threads) {
  scale_to_means(gradients);
  sum_by_lists(gradients, threads);
  std::vector<const float*> of_shards;
  of_shards.reserve(shard_of_.size());
  for (const std::size_t feature : shard_of_) of_shards.push_back(gradients_of_[feature]);
  exchange_.start_gradients(of_shards);
  if (!replicas_) return;
  std::vector<const float*> of_replicas(replicas_->tables());
  for (std::size_t feature = 0; feature < homes_.size(); ++feature) {
    const std::size_t replica = homes_[feature].replica;
    if (replica != kNone) of_replicas[replica] = gradients_of_[feature];
  }
  replicas_->start_sums(of_replicas, threads);
}

void RankedTables::add_up(std::size_t shard) {
  std::vector<EmbeddingTables::GradientRun> runs;
  runs.reserve(exchange_.parts());
  for (std::size_t rank = 0; rank < exchange_.parts(); ++rank) {
    runs.push_back({exchange_.part(shard, rank).lists, exchange_.gradients(shard, rank)});
  }
  own_.add_up(shard, owned_lists_.lengths(shard), *rows_, runs);
}

}  // namespace forebay
