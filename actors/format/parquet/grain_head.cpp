#include "actors/format/parquet/grain_head.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace forebay::parquet {

static_assert(std::is_trivially_copyable_v<GrainLeaf> && sizeof(GrainLeaf) == 64);

void GrainLeaf::store(const Leaf& leaf) {
  per_second = leaf.per_second;
  value_bytes = leaf.bytes;
  list_size = leaf.list_size;
  scale = leaf.scale;
  physical = leaf.physical;
  meaning = leaf.meaning;
  most_definition = leaf.most_definition;
  most_repetition = leaf.most_repetition;
}

Leaf GrainLeaf::leaf() const {
  Leaf leaf;
  leaf.type = "this column";
  leaf.physical = physical;
  leaf.meaning = meaning;
  leaf.bytes = value_bytes;
  leaf.scale = scale;
  leaf.per_second = per_second;
  leaf.most_definition = most_definition;
  leaf.most_repetition = most_repetition;
  leaf.list_size = list_size;
  return leaf;
}

std::vector<char> GrainHead::to_bytes() const {
  std::vector<char> bytes(bytes_of(leaves.size()));
  const std::uint64_t numbers[] = {group, first_row, rows};
  std::memcpy(bytes.data(), numbers, sizeof(numbers));
  std::memcpy(bytes.data() + sizeof(numbers), leaves.data(), leaves.size() * sizeof(GrainLeaf));
  return bytes;
}

bool GrainHead::parse(std::span<const char> grain, std::size_t leaves, GrainHead& out) {
  if (grain.size() < bytes_of(leaves)) return false;
  std::uint64_t numbers[3] = {};
  std::memcpy(numbers, grain.data(), sizeof(numbers));
  out.group = numbers[0];
  out.first_row = numbers[1];
  out.rows = numbers[2];
  out.leaves.resize(leaves);
  std::memcpy(out.leaves.data(), grain.data() + sizeof(numbers), leaves * sizeof(GrainLeaf));
  const std::size_t left = grain.size() - bytes_of(leaves);
  return std::ranges::all_of(out.leaves, [left](const GrainLeaf& leaf) {
    return leaf.begin <= left && leaf.bytes <= left - leaf.begin;
  });
}

}  // namespace forebay::parquet
