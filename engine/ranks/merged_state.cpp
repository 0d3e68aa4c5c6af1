#include "engine/ranks/merged_state.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "core/base/text/number.h"

namespace forebay {
namespace {

std::int64_t number_in(std::string_view text) {
  return leading_number<std::int64_t>(text).value_or(-1);
}

/// Returns the number of the table that a tensor belongs to; -1 for tensors that belong to no
/// table.
std::int64_t table_of(const StateTensor& tensor) {
  constexpr std::string_view kPrefix = "table.";
  const std::string_view name = tensor.name;
  return name.starts_with(kPrefix) ? number_in(name.substr(kPrefix.size())) : -1;
}

/// The parts of a tensor's name (trainer/embedding/table_storage.h): "table.3.from.100" holds the
/// rows of "table.3" from 100 on.
struct Rows {
  std::string_view whole;
  std::int64_t first = 0;
};

Rows rows_of(const StateTensor& tensor) {
  constexpr std::string_view kFrom = ".from.";
  const std::string_view name = tensor.name;
  const std::size_t at = name.rfind(kFrom);
  if (table_of(tensor) < 0 || at == std::string_view::npos) return {name, 0};
  return {name.substr(0, at), number_in(name.substr(at + kFrom.size()))};
}

}  // namespace

MergedState::MergedState(std::vector<std::unique_ptr<StateSource>> ranks)
    : ranks_(std::move(ranks)) {
  // A checkpoint has one file for each part.
  std::vector<std::tuple<StateTensor::Part, std::int64_t, std::size_t, std::size_t>> found;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto& tensors = ranks_[rank]->tensors();
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      found.emplace_back(tensors[index].part, table_of(tensors[index]), rank, index);
    }
  }
  std::ranges::sort(found);
  for (const auto& [part, table, rank, index] : found) {
    const StateTensor& tensor = ranks_[rank]->tensors()[index];
    add(tensor, {rows_of(tensor).first, rank, index});
  }
  for (auto& pieces : pieces_) std::ranges::sort(pieces, {}, &Piece::first);
}

void MergedState::add(const StateTensor& tensor, const Piece& piece) {
  const std::string_view whole = rows_of(tensor).whole;
  const auto known = std::ranges::find_if(tensors_, [&](const StateTensor& other) {
    return other.name == whole && other.part == tensor.part;
  });
  if (known == tensors_.end()) {
    tensors_.push_back(tensor);
    tensors_.back().name = whole;
    pieces_.push_back({piece});
    return;
  }
  auto& pieces = pieces_[static_cast<std::size_t>(known - tensors_.begin())];
  // A tensor that several ranks have is the same on all of them.
  if (std::ranges::count(pieces, piece.first, &Piece::first) > 0) return;
  known->shape[0] += tensor.shape[0];
  pieces.push_back(piece);
}

Status MergedState::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  for (const Piece& piece : pieces_[index]) {
    const std::uint64_t bytes = ranks_[piece.rank]->tensors()[piece.index].bytes();
    if (offset >= bytes) {
      offset -= bytes;
      continue;
    }
    const auto here = to.first(std::min<std::uint64_t>(to.size(), bytes - offset));
    if (auto read = ranks_[piece.rank]->read(piece.index, offset, here); !read) return read;
    to = to.subspan(here.size());
    if (to.empty()) break;
    offset = 0;
  }
  return {};
}

void MergedState::give_up() {
  for (const auto& rank : ranks_) rank->give_up();
}

PartOfState::PartOfState(StateSource& whole, const std::vector<StateTensor>& wanted)
    : whole_(whole) {
  const auto& tensors = whole.tensors();
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const StateTensor& tensor = tensors[index];
    const auto ours = std::ranges::find_if(wanted, [&](const StateTensor& each) {
      return rows_of(each).whole == tensor.name && each.part == tensor.part;
    });
    if (ours == wanted.end()) continue;
    StateTensor part = tensor;
    std::uint64_t offset = 0;
    if (ours->name != tensor.name && !tensor.shape.empty() && !ours->shape.empty()) {
      const std::int64_t first = rows_of(*ours).first;
      if (first < 0 || first + ours->shape[0] > tensor.shape[0]) continue;
      part.name = ours->name;
      part.shape[0] = ours->shape[0];
      const auto rows = static_cast<std::uint64_t>(tensor.shape[0]);
      offset = static_cast<std::uint64_t>(first) * (tensor.bytes() / rows);
    }
    tensors_.push_back(std::move(part));
    locations_.push_back({index, offset});
  }
}

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

}  // namespace forebay
