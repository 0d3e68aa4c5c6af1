#include "actors/format/criteo/criteo_kernel.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::size_t kRoom = CriteoGroup::kRows + 16;  // A kernel may write one vector too many.
constexpr std::size_t kReadBehind = 63;

/// Text of rows of any plain values, each field filled or empty at random.
std::string plain_rows(Random& random, std::size_t rows) {
  static const std::array<const char*, 5> kInts{"", "0", "-1", "12345678", "-1234567"};
  static const std::array<const char*, 4> kTokens{"", "7", "0aB9", "ffffffff"};
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    text += random.below(2) == 0 ? "0" : "1";
    for (std::size_t i = 0; i < CriteoRow::kInts; ++i) {
      text.append(1, '\t').append(kInts[random.below(kInts.size())]);
    }
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) {
      text.append(1, '\t').append(kTokens[random.below(kTokens.size())]);
    }
    text += random.below(4) == 0 ? "\r\n" : "\n";
  }
  return text;
}

/// Columns for a group, as a decoder passes them.
struct Columns {
  std::array<float, kRoom> labels{};
  std::array<std::array<float, kRoom>, CriteoRow::kInts> ints{};
  std::array<std::array<std::int64_t, kRoom>, CriteoRow::kTokens> ids{};
  std::array<std::array<std::int32_t, kRoom>, CriteoRow::kTokens> offsets{};
  std::array<SparseFill, CriteoRow::kTokens> fills;
  CriteoTarget target;

  Columns() {
    target.labels = labels.data();
    for (std::size_t i = 0; i < ints.size(); ++i) target.ints[i] = ints[i].data();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      fills[i].values = ids[i].data();
      fills[i].offsets = offsets[i].data();
      target.tokens[i] = &fills[i];
    }
  }
};

/// The number of rows of one group that the kernel of `level` decodes.
std::size_t rows_taken(CpuLevel level, std::string text) {
  const std::size_t size = text.size();
  text.resize(size + kReadBehind);
  const CriteoKernel& kernel = criteo_kernel(level);
  const auto group = std::make_unique<CriteoGroup>();
  const auto columns = std::make_unique<Columns>();
  kernel.find(text.data(), size, *group);
  const std::size_t taken = kernel.decode(text.data(), *group, ~0U, columns->target);
  CHECK(columns->target.rows == taken);
  return taken;
}

std::vector<CpuLevel> levels_here() {
  std::vector<CpuLevel> levels;
  for (int level = 0; level <= static_cast<int>(best_cpu_level()); ++level) {
    levels.push_back(static_cast<CpuLevel>(level));
  }
  return levels;
}

TEST_CASE("a kernel decodes every plain row without the slow path", "[format][criteo]") {
  for (const CpuLevel level : levels_here()) {
    Random random(5);
    for (std::size_t rows = 0; rows <= CriteoGroup::kRows + 3; ++rows) {
      CHECK(rows_taken(level, plain_rows(random, rows)) == std::min(rows, CriteoGroup::kRows));
    }
  }
}

TEST_CASE("a kernel stops at the first row that is not plain", "[format][criteo]") {
  for (const CpuLevel level : levels_here()) {
    Random random(6);
    for (std::size_t odd = 0; odd < CriteoGroup::kRows; ++odd) {
      std::string row = plain_rows(random, 1);
      row[0] = '2';  // No label.
      const std::string text = plain_rows(random, odd) + row + plain_rows(random, 40);
      CHECK(rows_taken(level, text) == odd);
    }
  }
}

}  // namespace
}  // namespace forebay
