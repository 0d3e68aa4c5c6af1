#include "actors/source/index/block_builder.h"

#include <cstdint>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

// Returns offsets of rows of 1 to 600 bytes, so that a slot of 256 bytes has zero, one or many
// rows.
std::vector<std::uint64_t> row_starts(std::uint64_t seed, int rows) {
  Random random(seed);
  std::vector<std::uint64_t> starts;
  std::uint64_t offset = random.below(100);
  for (int i = 0; i < rows; ++i) {
    starts.push_back(offset);
    offset += 1 + random.below(random.below(4) == 0 ? 600 : 60);
  }
  return starts;
}

BlockBuilder build(const std::vector<std::uint64_t>& starts, std::uint64_t slot) {
  BlockBuilder builder(slot);
  std::uint64_t line = 1;
  for (const std::uint64_t start : starts) builder.add_row(start, line++);
  return builder;
}

TEST_CASE("a block holds the rows that start in one aligned slot", "[actors][source]") {
  // Slots of 256: rows 3 and 255 are in [0, 256), row 256 is in [256, 512), row 700 in [512, 768).
  const BlockBuilder builder = build({3, 255, 256, 700}, 256);
  CHECK(builder.blocks() == std::vector<Block>{{.offset = 3, .line = 1, .rows = 2},
                                               {.offset = 256, .line = 3, .rows = 1},
                                               {.offset = 700, .line = 4, .rows = 1}});
  CHECK(builder.rows() == 4);
}

TEST_CASE("coarsening gives the same blocks as starting with the coarse slot", "[actors][source]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const std::vector<std::uint64_t> starts = row_starts(seed, 2000);
    for (const std::uint64_t slot : {512U, 2048U, 65536U}) {
      const std::vector<Block> direct = build(starts, slot).blocks();
      BlockBuilder at_the_end = build(starts, 256);
      at_the_end.coarsen(slot);
      CHECK(at_the_end.blocks() == direct);

      BlockBuilder on_the_way(256);
      std::uint64_t line = 1;
      for (const std::uint64_t start : starts) {
        if (line == 700) on_the_way.coarsen(slot / 2);
        if (line == 1400) on_the_way.coarsen(slot);
        on_the_way.add_row(start, line++);
      }
      CHECK(on_the_way.blocks() == direct);
      CHECK(on_the_way.rows() == 2000);
    }
  }
}

TEST_CASE("a builder of earlier blocks goes on where they ended", "[actors][source]") {
  BlockBuilder builder(256, build({0, 10, 300}, 256).take());
  builder.add_row(310, 4);
  CHECK(builder.rows() == 4);
  CHECK(builder.blocks().back() == Block{.offset = 300, .line = 3, .rows = 2});
}

TEST_CASE("a finer slot than the present one changes nothing", "[actors][source]") {
  BlockBuilder builder = build({0, 300, 600, 900}, 512);
  builder.coarsen(256);
  CHECK(builder.slot_bytes() == 512);
  CHECK(builder.blocks().size() == 2);
}

TEST_CASE("a builder with too many blocks grows coarser by itself", "[actors][source]") {
  // One row per slot of 256 bytes: with 2¹⁷ + 1 blocks, slots become 512 bytes.
  BlockBuilder builder(256);
  const std::uint64_t most = slot_rule::most_blocks(256);
  for (std::uint64_t i = 0; i < most; ++i) builder.add_row(256 * i, i + 1);
  CHECK(builder.slot_bytes() == 256);
  builder.add_row(256 * most, most + 1);
  CHECK(builder.slot_bytes() == 512);
  CHECK(builder.blocks().size() == most / 2 + 1);
  CHECK(builder.rows() == most + 1);
}

TEST_CASE("the slot follows the dataset's size between its limits", "[actors][source]") {
  CHECK(slot_rule::slot_for(0) == 256);
  CHECK(slot_rule::slot_for(512 * 1600 - 1) == 256);
  CHECK(slot_rule::slot_for(512 * 1600) == 512);
  CHECK(slot_rule::slot_for(5'000'000) == 2048);  // 5 M / 1600 = 3125
  CHECK(slot_rule::slot_for(std::uint64_t{1} << 40) == 16384);
  CHECK(slot_rule::slot_for(51'200'000, 100'000) == 16384);  // rows of 512 B
  CHECK(slot_rule::slot_for(51'300'000, 100'000) == 32768);
  CHECK(slot_rule::slot_for(5'000'000, 100) == 2048);
}

}  // namespace
}  // namespace forebay
