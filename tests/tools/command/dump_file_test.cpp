#include "tools/command/dump_file.h"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const Schema kSchema{.dense = {"I1", "I2"}, .sparse = {{"C1"}, {"tags"}}};

}  // namespace

TEST_CASE("a dump is a line a row: batch, label, floats with nine digits, lists of ids",
          "[tools][dump]") {
  const test::TempDir dir;
  auto dump = DumpFile::create(dir.path("rows.tsv"), kSchema);
  REQUIRE(dump);
  std::vector<float> labels = {0, 1, 1};
  // 0.1f is 0.100000001490116…; 16777216 is 2^24.
  std::vector<float> dense = {0.1F, 16777216, std::nanf(""), kInfinity, -kInfinity, -0.0F};
  std::vector<std::int32_t> lengths = {1, 0, 1, 2, 0, 1};  // C1 of three rows, then tags of them
  std::vector<std::int64_t> ids = {7, std::numeric_limits<std::int64_t>::min(), 1, -2, 3};
  Batch batch;
  batch.number = 41;
  batch.rows = 3;
  batch.dense_features = 2;
  batch.sparse_features = 2;
  batch.num_ids = ids.size();
  batch.labels = labels.data();
  batch.dense = dense.data();
  batch.lengths = lengths.data();
  batch.ids = ids.data();
  REQUIRE(dump->write(batch));
  REQUIRE(dump->finish());
  CHECK(dir.read("rows.tsv") ==
        "batch\tlabel\tI1\tI2\tC1\ttags\n"
        "41\t0\t0.100000001\t16777216\t7\t1,-2\n"
        "41\t1\tnan\tinf\t\t\n"
        "41\t1\t-inf\t-0\t-9223372036854775808\t3\n");
}

TEST_CASE("a second dump into a file is refused, and what the first one wrote stays",
          "[tools][dump]") {
  const test::TempDir dir;
  const std::string path = dir.write("rows.tsv", "of an earlier run\n");
  {
    auto first = DumpFile::create(path, kSchema);
    REQUIRE(first);
    REQUIRE(first->finish());
    const auto second = DumpFile::create(path, kSchema);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == Code::kInvalid);
    CHECK(second.error().message ==
          "--dump " + path + ": another run writes it; wait for it, or give another file");
  }
  CHECK(dir.read("rows.tsv") == "batch\tlabel\tI1\tI2\tC1\ttags\n");
  CHECK(DumpFile::create(path, kSchema));
  CHECK(DumpFile::create("-", kSchema).error().message ==
        "--dump -: give /dev/stdout, or ./- for a file of that name");
  // Devices and pipes are not locked.
  const auto one = DumpFile::create("/dev/null", kSchema);
  CHECK(one);
  CHECK(DumpFile::create("/dev/null", kSchema));
}

TEST_CASE("a dump ends with the weight and the extra columns", "[tools][dump]") {
  const test::TempDir dir;
  const Schema schema{
      .dense = {"I1"},
      .sparse = {},
      .weight = true,
      .extra = {{.name = "time"}, {.name = "price", .kind = ExtraColumn::Kind::kFloat64}}};
  auto dump = DumpFile::create(dir.path("rows.tsv"), schema);
  REQUIRE(dump);
  std::vector<float> labels = {0, 1};
  std::vector<float> dense = {1, 2};
  std::vector<float> weights = {0.1F, 3};
  std::vector<std::int64_t> extras = {-5, 1700000000123, std::bit_cast<std::int64_t>(0.1),
                                      std::bit_cast<std::int64_t>(std::nan(""))};
  Batch batch;
  batch.rows = 2;
  batch.dense_features = 1;
  batch.labels = labels.data();
  batch.dense = dense.data();
  batch.weights = weights.data();
  batch.extra_columns = 2;
  batch.extras = extras.data();
  REQUIRE(dump->write(batch));
  REQUIRE(dump->finish());
  CHECK(dir.read("rows.tsv") ==
        "batch\tlabel\tI1\tweight\ttime\tprice\n"
        "0\t0\t1\t0.100000001\t-5\t0.10000000000000001\n"
        "0\t1\t2\t3\t1700000000123\tnan\n");
}

TEST_CASE("a dump without a batch is its header", "[tools][dump]") {
  const test::TempDir dir;
  auto dump = DumpFile::create(dir.path("rows.tsv"), kSchema);
  REQUIRE(dump);
  REQUIRE(dump->finish());
  CHECK(dir.read("rows.tsv") == "batch\tlabel\tI1\tI2\tC1\ttags\n");
}

TEST_CASE("a dump that cannot be made is refused by name", "[tools][dump]") {
  const test::TempDir dir;
  const auto refused = DumpFile::create(dir.path("none/rows.tsv"), kSchema);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message ==
        "--dump " + dir.path("none/rows.tsv") + ": No such file or directory");
}

}  // namespace forebay
