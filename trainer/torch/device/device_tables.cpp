#include "trainer/torch/device/device_tables.h"

#include <algorithm>
#include <map>
#include <string>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include "trainer/torch/libtorch.h"

namespace forebay {
namespace {

constexpr std::size_t kOutOfTurn = DeviceTables::kStaged;
/// How many rows ahead a row is looked up: rows lie all over the memory, which is slow to come.
constexpr std::size_t kAhead = 16;
/// Threads take the rows of a batch in pieces of this many: a few large tables have most of them.
constexpr std::size_t kPiece = 1024;

at::Tensor floats_on(at::Device device, std::uint64_t rows, std::size_t width) {
  // Without tables no row is selected, but libtorch cannot select from an empty tensor.
  return at::empty({std::max<std::int64_t>(static_cast<std::int64_t>(rows), 1), extent(width)},
                   at::TensorOptions(at::kFloat).device(device));
}

/// A size with an eighth to spare, so that small growth needs no reallocation.
std::int64_t roomy(std::int64_t bytes) { return bytes + bytes / 8; }

/// The number of each feature's first row when all arenas are numbered through; the last is the
/// end.
std::vector<std::uint64_t> first_numbers(TableStorage& host, std::size_t features) {
  std::map<const RowArena*, std::uint64_t> first;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(features + 1);
  std::uint64_t end = 0;
  for (std::size_t feature = 0; feature < features; ++feature) {
    RowArena& arena = host.arena(feature);
    const auto [place, added] = first.try_emplace(&arena, end);
    if (added) {
      end += arena.slots();
      arena.count_refills();
    }
    numbers.push_back(place->second);
  }
  numbers.push_back(end);
  return numbers;
}

}  // namespace

DeviceTables::DeviceTables(std::unique_ptr<TableStorage> host, const TableLayout& layout,
                           std::uint64_t slots, DeviceLanes& lanes, ThreadTeam& team)
    : host_(std::move(host)),
      width_(layout.width),
      state_width_(layout.state_width),
      lanes_(lanes),
      team_(team),
      first_number_(first_numbers(*host_, layout.rows.size())),
      cache_(first_number_.back(), std::min(slots, first_number_.back()), team),
      weights_(floats_on(lanes.device(), cache_.slots(), width_)) {
  if (state_width_ > 0) {
    moments_.push_back({"", floats_on(lanes.device(), cache_.slots(), state_width_)});
  }
  // Memory belongs to the lane it was allocated in; other lanes wait for the work on it there.
  lanes_.mark(DeviceLane::kCompute)->block(DeviceLane::kIn);
}

Status DeviceTables::no_room(const BatchRows& rows) const {
  return fail(Code::kOverloaded, "the device holds " + std::to_string(cache_.slots()) +
                                     " rows of the tables, and batch " +
                                     std::to_string(rows.batch) + " needs " +
                                     std::to_string(rows.num_rows()) +
                                     " beside those of others; raise trainer.tables.device_memory "
                                     "or lower order.batch_size");
}

/// Calls body(feature, begin, end) for pieces of all rows, each of one feature. `first_row` as in
/// BatchRows.
void DeviceTables::for_pieces(
    const std::vector<std::size_t>& first_row,
    const std::function<void(std::size_t, std::size_t, std::size_t)>& body) {
  const std::size_t rows = first_row.back();
  team_.for_each((rows + kPiece - 1) / kPiece, [&](std::size_t piece, std::size_t) {
    std::size_t begin = piece * kPiece;
    const std::size_t end = std::min(begin + kPiece, rows);
    const auto after = std::ranges::upper_bound(first_row, begin);
    for (auto feature = static_cast<std::size_t>(after - first_row.begin()) - 1; begin < end;
         ++feature) {
      const std::size_t stop = std::min(end, first_row[feature + 1]);
      if (begin < stop) body(feature, begin, stop);
      begin = stop;
    }
  });
}

void DeviceTables::want(const BatchRows& rows) {
  wanted_.resize(rows.num_rows());
  slots_.resize(wanted_.size());
  for_pieces(rows.first_row, [&](std::size_t feature, std::size_t begin, std::size_t end) {
    const RowArena& arena = host_->arena(feature);
    for (std::size_t row = begin; row < end; ++row) {
      const auto at = static_cast<std::size_t>(rows.slots[row]);
      wanted_[row] = {first_number_[feature] + at, arena.refills(at)};
    }
  });
}

Status DeviceTables::prepare(BatchRows& rows, std::uint64_t turn) {
  if (!broken_) return broken_;
  const auto ahead = std::span(staged_).first(kStaged);
  const auto staged =
      std::ranges::find_if(ahead, [&](const Staged& each) { return each.turn <= finished_; });
  if (staged == ahead.end()) return no_room(rows);
  // On a retry, after the device had no free slots, the host has prepared the turn already.
  if (host_prepared_ != turn) {
    if (auto prepared = host_->prepare(rows, turn); !prepared) return prepared;
    if (auto came = host_->await(turn); !came) return came;
    host_prepared_ = turn;
  }
  want(rows);
  if (!cache_.take(wanted_, turn, slots_, missing_)) return no_room(rows);
  staged->turn = turn;
  broken_ = stage(rows, static_cast<std::size_t>(staged - ahead.begin()));
  return broken_;
}

Status DeviceTables::borrow(BatchRows& rows, Use use) {
  if (!broken_) return broken_;
  if (auto lent = host_->borrow(rows, use); !lent) return lent;
  want(rows);
  Status staged = no_room(rows);
  if (cache_.lend(wanted_, slots_, missing_)) {
    staged = broken_ = stage(rows, kOutOfTurn);
    if (!staged) cache_.give_back();
  }
  if (!staged) host_->give_back(rows);
  return staged;
}

Status DeviceTables::stage(BatchRows& rows, std::size_t mark) {
  return guard_torch([&] {
    Staged& staged = staged_[mark];
    rows.mark = mark;
    staged.extents = extents_of(*rows.source, rows);
    staged.extents.fetched = extent(missing_.size());
    staged.extents.row_size = extent(width_ + state_width_);
    staged.first_row = rows.first_row;
    staged.host_slots = rows.slots;
    make_room(staged);
    write(rows, staged_in(staged.host, staged.extents));
    send(staged);
  });
}

void DeviceTables::make_room(Staged& staged) {
  if (staged.copied) staged.copied->wait();
  const std::int64_t bytes = staged_bytes(staged.extents);
  if (staged.host.defined() && staged.host.numel() >= bytes) return;
  staged.host = lanes_.host_memory(roomy(bytes));
  staged.device =
      at::empty({staged.host.numel()}, at::TensorOptions(at::kByte).device(lanes_.device()));
  lanes_.mark(DeviceLane::kCompute)->block(DeviceLane::kIn);
}

void DeviceTables::write(const BatchRows& rows, const StagedBatch& to) {
  const std::size_t parts = staged_parts(*rows.source);
  const std::size_t pieces = (missing_.size() + kPiece - 1) / kPiece;
  team_.for_each(parts + pieces + 1, [&](std::size_t part, std::size_t) {
    if (part < parts) return write_staged(*rows.source, rows, to, part);
    if (part == parts + pieces) {
      std::ranges::copy(slots_, values_of<std::int32_t>(to.slots).begin());
      return;
    }
    const std::size_t begin = (part - parts) * kPiece;
    write_fetched(rows, begin, std::min(begin + kPiece, missing_.size()), to);
  });
}

void DeviceTables::write_fetched(const BatchRows& rows, std::size_t begin, std::size_t end,
                                 const StagedBatch& to) const {
  const std::span<std::int32_t> slots = values_of<std::int32_t>(to.fetched_slots);
  float* values = to.fetched.data_ptr<float>() + begin * (width_ + state_width_);
  const auto feature_of = [&](std::size_t row, std::size_t feature) {
    while (row >= rows.first_row[feature + 1]) ++feature;
    return feature;
  };
  std::size_t feature = 0;
  std::size_t later = 0;  // The feature of the row that is looked up ahead.
  for (std::size_t i = begin; i < end; ++i, values += width_ + state_width_) {
    const std::size_t row = missing_[i];
    if (i + kAhead < end) {
      const std::size_t coming = missing_[i + kAhead];
      later = feature_of(coming, later);
      look_up(host_->arena(later), static_cast<std::size_t>(rows.slots[coming]));
    }
    feature = feature_of(row, feature);
    const RowArena& arena = host_->arena(feature);
    const auto at = static_cast<std::size_t>(rows.slots[row]);
    slots[i] = slots_[row];
    std::copy_n(arena.weights(at), width_, values);
    if (state_width_ > 0) std::copy_n(arena.state(at), state_width_, values + width_);
  }
}

/// Begins to read a row that is copied soon, or written to.
void DeviceTables::look_up(const RowArena& arena, std::size_t slot) const {
  __builtin_prefetch(arena.weights(slot), 1);
  if (state_width_ > 0) __builtin_prefetch(arena.state(slot), 1);
}

/// Sends the batch in one copy, and on the device moves the fetched rows to their slots.
void DeviceTables::send(Staged& staged) {
  const std::int64_t bytes = staged_bytes(staged.extents);
  const auto width = extent(width_);
  const auto state = extent(state_width_);
  lanes_.run(DeviceLane::kIn, [from = staged.host.narrow(0, 0, bytes),
                               to = staged.device.narrow(0, 0, bytes), extents = staged.extents,
                               weights = weights_, moments = moments_, width, state]() mutable {
    to.copy_(from, /*non_blocking=*/true);
    if (extents.fetched == 0) return;
    const StagedBatch batch = staged_in(to, extents);
    const at::Tensor slots = batch.fetched_slots.to(at::kLong);
    weights.index_copy_(0, slots, batch.fetched.narrow(1, 0, width));
    if (state > 0) moments[0].value.index_copy_(0, slots, batch.fetched.narrow(1, width, state));
  });
  staged.copied = lanes_.mark(DeviceLane::kIn);
}

StagedBatch DeviceTables::on_device(const BatchRows& rows) {
  Staged& staged = staged_[rows.mark];
  staged.copied->block(DeviceLane::kCompute);
  return staged_in(staged.device, staged.extents);
}

void DeviceTables::changed(const BatchRows& rows) {
  const c10::AutoGradMode off(false);
  Staged& staged = staged_[rows.mark];
  const at::Tensor slots = staged_in(staged.device, staged.extents).slots.to(at::kLong);
  std::vector<at::Tensor> parts{weights_.index_select(0, slots)};
  if (state_width_ > 0) parts.push_back(moments_[0].value.index_select(0, slots));
  staged.after = at::cat(parts, 1);
  const std::int64_t bytes = staged.after.numel() * extent(sizeof(float));
  if (!staged.home.defined() || staged.home.numel() < bytes) {
    staged.home = lanes_.host_memory(roomy(bytes));
  }
  staged.used = lanes_.mark(DeviceLane::kCompute);
  staged.used->block(DeviceLane::kOut);
  lanes_.run(DeviceLane::kOut, [from = staged.after, bytes = staged.home.narrow(0, 0, bytes)] {
    bytes.view(at::kFloat).view(from.sizes()).copy_(from, /*non_blocking=*/true);
  });
  staged.came_home = lanes_.mark(DeviceLane::kOut);
  staged.changed = true;
}

void DeviceTables::finish(std::uint64_t turn) {
  for (; finished_ < turn; ++finished_) {
    for (Staged& staged : std::span(staged_).first(kStaged)) {
      if (staged.turn == finished_ + 1) release(staged);
    }
  }
  host_->finish(turn);
  cache_.finish(turn);
}

void DeviceTables::give_back(const BatchRows& rows) {
  Staged& staged = staged_[kOutOfTurn];
  release(staged);
  cache_.give_back();
  host_->give_back(rows);
}

/// The work with a batch has ended, or will end before its memory is written to again.
void DeviceTables::release(Staged& staged) {
  auto released = guard_torch([&] {
    if (staged.changed) write_home(staged);
    if (!staged.used) staged.used = lanes_.mark(DeviceLane::kCompute);
    staged.used->block(DeviceLane::kIn);
  });
  staged.used.reset();
  staged.changed = false;
  staged.after.reset();
  if (!released && broken_) broken_ = std::move(released);
}

void DeviceTables::write_home(const Staged& staged) {
  staged.came_home->wait();
  const std::size_t width = width_ + state_width_;
  const auto* home = static_cast<const float*>(staged.home.data_ptr());
  for_pieces(staged.first_row, [&](std::size_t feature, std::size_t begin, std::size_t end) {
    const auto slots = std::span(staged.host_slots).subspan(begin, end - begin);
    const RowArena& arena = host_->arena(feature);
    arena.before_change(slots);
    const float* values = home + begin * width;
    for (std::size_t i = 0; i < slots.size(); ++i, values += width) {
      if (i + kAhead < slots.size()) look_up(arena, static_cast<std::size_t>(slots[i + kAhead]));
      const auto at = static_cast<std::size_t>(slots[i]);
      std::copy_n(values, width_, arena.weights(at));
      if (state_width_ > 0) std::copy_n(values + width_, state_width_, arena.state(at));
    }
  });
}

Status DeviceTables::restore(StateSource& from, std::vector<MemoryTensor> others) {
  if (!broken_) return broken_;
  auto restored = host_->restore(from, std::move(others));
  cache_.clear();
  return restored;
}

}  // namespace forebay
