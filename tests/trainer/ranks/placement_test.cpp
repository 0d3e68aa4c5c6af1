#include "trainer/ranks/placement.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using How = TrainerSpec::Placement;
using Rows = std::vector<std::int64_t>;

std::vector<int> owners_of(const Rows& rows, int ranks) {
  return place_tables(rows, How::kTable, ranks).owners();
}

}  // namespace

TEST_CASE("every rank owns about as many tables, and about as many rows", "[trainer][ranks]") {
  // Largest first, each to the rank with the fewest rows: 100 → 0, 60 → 1, 50 → 1 (60 < 100), 9 →
  // 0.
  CHECK(owners_of({9, 100, 50, 60}, 2) == std::vector<int>{0, 0, 1, 1});
  CHECK(owners_of({5, 5, 5}, 1) == std::vector<int>{0, 0, 0});
  CHECK(owners_of({5}, 3) == std::vector<int>{0});
  CHECK(owners_of({}, 2).empty());
}

TEST_CASE("a table is cut by rows into a range a rank", "[trainer][ranks]") {
  const TablePlacement placement = place_tables(Rows{7, 2}, How::kRow, 3);
  // 7 rows: from 0, ⌊7/3⌋ = 2 and ⌊14/3⌋ = 4 on; a table of fewer rows than ranks stays whole.
  CHECK(placement.shards ==
        std::vector<TableShard>{{0, 0, 2, 0}, {0, 2, 2, 1}, {0, 4, 3, 2}, {1, 0, 2, 0}});
  CHECK(placement.replicated.empty());
}

TEST_CASE("small tables are at every rank, tables above an even share are cut",
          "[trainer][ranks]") {
  // Above 1024 rows there are 6000 + 2000 + 2000, of which an even share is 5000.
  const TablePlacement placement = place_tables(Rows{2000, 1024, 6000, 2000, 3}, How::kAuto, 2);
  CHECK(placement.replicated == std::vector<std::size_t>{1, 4});
  CHECK(placement.shards ==
        std::vector<TableShard>{
            {0, 0, 2000, 0}, {2, 0, 3000, 0}, {2, 3000, 3000, 1}, {3, 0, 2000, 1}});
  CHECK(place_tables(Rows{2000, 3}, How::kReplicated, 2).replicated.size() == 2);
}

TEST_CASE("a rank makes the tables that it has", "[trainer][ranks]") {
  ModelShape shape;
  shape.table_rows = {9, 7};
  shape.embedding_dim = 4;
  const TablePlacement placement = place_tables(shape.table_rows, How::kRow, 2);
  const ModelShape second = shards_of(shape, placement, 1);
  CHECK(second.table_rows == Rows{5, 4});
  CHECK(second.table_first == Rows{4, 3});
  CHECK(second.table_whole == shape.table_rows);
  CHECK(second.table_features == std::vector<std::size_t>{0, 1});
  CHECK(replicas_of(shape, placement).table_rows.empty());

  TrainerSpec spec;
  spec.tables.storage = TrainerSpec::Storage::kHashed;
  spec.tables.placement = How::kAuto;
  const TablePlacement hashed = place_tables(spec, shape, 2);
  CHECK(hashed.shards == std::vector<TableShard>{{0, 0, 9, 0}, {1, 0, 7, 1}});
}

TEST_CASE("each rank keeps its tables in tiers in its own folder, replicas lie in memory",
          "[trainer][ranks]") {
  ModelShape shape;
  shape.table_rows = {5000, 100, 4000};
  shape.embedding_dim = 4;
  TrainerSpec spec;
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.memory_bytes = 10000;
  spec.tables.folder = "run/tables";
  const TablePlacement placement = place_tables(spec, shape, 2);
  CHECK(placement.replicated == std::vector<std::size_t>{1});
  const TrainerSpec own = spec_of_shards(spec, shape, placement, 1);
  CHECK(own.tables.storage == TrainerSpec::Storage::kTiered);
  CHECK(own.tables.folder == "run/tables/rank-1");
  CHECK(own.tables.snapshot == TrainerSpec::Tables::Snapshot::kWhole);
  // The replica takes 100 rows of 4 floats of that memory.
  CHECK(own.tables.memory_bytes == 10000 - 1600);
  CHECK(spec_of_replicas(spec).tables.storage == TrainerSpec::Storage::kMemory);
  // A rank without tables has no tiers.
  const TablePlacement one{.shards = {{0, 0, 5000, 0}}, .replicated = {1, 2}};
  CHECK(spec_of_shards(spec, shape, one, 1).tables.storage == TrainerSpec::Storage::kMemory);
}
