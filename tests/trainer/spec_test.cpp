#include "trainer/spec.h"

#include "trainer/network_shape.h"
#include "trainer/repeated_bytes.h"
#include "trainer/saving/block_file.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

Schema two_by_two() { return {.dense = {"a", "b"}, .sparse = {{"c", 100}, {"d", 0}}}; }

}  // namespace

TEST_CASE("a model's shape follows the columns", "[trainer][spec]") {
  TrainerSpec spec;
  spec.embedding_dim = 8;
  spec.max_table_rows = 1000;
  auto shape = shape_of(spec, two_by_two());
  REQUIRE(shape);
  CHECK(shape->table_rows == std::vector<std::int64_t>{100, 1000});
  CHECK(shape->bottom_mlp == std::vector<int>{64, 8});
  CHECK(shape->top_mlp == std::vector<int>{64, 1});
  // 8 of the bottom and 3 pairs of 3 vectors.
  CHECK(shape->top_input() == 11);
  // Bottom 2·64+64, 64·8+8; top 11·64+64, 64+1.
  CHECK(shape->dense_parameters() == 192 + 520 + 768 + 65);
  CHECK(shape->table_parameters() == 1100 * 8);
}

TEST_CASE("each network has its own layers", "[trainer][spec]") {
  TrainerSpec spec;
  spec.embedding_dim = 8;
  spec.max_table_rows = 1000;
  SECTION("dcn_v2: three vectors of 8 go through cross layers of rank 5") {
    spec.model = TrainerSpec::ModelKind::kDcnV2;
    spec.cross_layers = 2;
    spec.cross_rank = 5;
    const auto shape = shape_of(spec, two_by_two()).value();
    CHECK(shape.top_input() == 24);
    CHECK(shape.row_width() == 8);
    // Bottom as dlrm's; each cross layer 24·5·2 + 24; top 24·64+64, 64+1.
    CHECK(shape.dense_parameters() == 192 + 520 + 2 * 264 + 1600 + 65);
  }
  SECTION("wide_deep and deepfm: no bottom, a weight a dense value, a weight an id") {
    spec.model = GENERATE(TrainerSpec::ModelKind::kWideDeep, TrainerSpec::ModelKind::kDeepFm);
    const auto shape = shape_of(spec, two_by_two()).value();
    CHECK(shape.bottom_mlp.empty());
    CHECK(shape.top_input() == 2 + 16);
    CHECK(shape.dense_parameters() == 2 + 18 * 64 + 64 + 65);
    CHECK(shape.row_width() == 9);
    CHECK(shape.table_parameters() == 1100 * 9);
  }
}

TEST_CASE("a bounded feature's table is capped", "[trainer][spec]") {
  TrainerSpec spec;
  spec.max_table_rows = 10;
  CHECK(shape_of(spec, two_by_two())->table_rows == std::vector<std::int64_t>{10, 10});
}

TEST_CASE("impossible keys are refused by name", "[trainer][spec]") {
  TrainerSpec spec;
  std::string key;
  SECTION("a bottom that does not end in the embedding's width") {
    spec.bottom_mlp = {32, 8};
    key = "trainer.bottom_mlp";
  }
  SECTION("a top that does not end in 1") {
    spec.top_mlp = {32};
    key = "trainer.top_mlp";
  }
  SECTION("an empty layer") {
    spec.top_mlp = {0, 1};
    key = "trainer.top_mlp";
  }
  SECTION("no embedding") {
    spec.embedding_dim = 0;
    key = "trainer.embedding_dim";
  }
  SECTION("no learning") {
    spec.learning_rate = 0;
    key = "trainer.learning_rate";
  }
  SECTION("a bottom where there is none") {
    spec.model = TrainerSpec::ModelKind::kDeepFm;
    spec.bottom_mlp = {16};
    key = "trainer.bottom_mlp";
  }
  SECTION("no cross layers") {
    spec.cross_layers = 0;
    key = "trainer.cross_layers";
  }
  SECTION("no rank") {
    spec.cross_rank = 0;
    key = "trainer.cross_rank";
  }
  SECTION("a negative length of gradients") {
    spec.clip_norm = -1;
    key = "trainer.clip_norm";
  }
  SECTION("a decay that begins and never ends") {
    spec.decay_start = 5;
    key = "trainer.decay_start";
  }
  SECTION("no rows left to train on") {
    spec.evaluate_share = 1;
    key = "trainer.evaluate_share";
  }
  SECTION("no rows") {
    spec.max_table_rows = 0;
    key = "trainer.max_table_rows";
  }
  auto shape = shape_of(spec, two_by_two());
  REQUIRE_FALSE(shape);
  CHECK(shape.error().message.starts_with(key));
}

TEST_CASE("layers with 16 inputs and outputs are rounded", "[trainer][spec]") {
  TrainerSpec spec;
  spec.embedding_dim = 16;
  spec.bottom_mlp = {64, 16};
  spec.top_mlp = {16, 15, 1};
  // The bottom's second layer, since two columns are too few; the top's first has 16 + 3 inputs.
  CHECK(rounded_parameters(*shape_of(spec, two_by_two())) == 64 * 16 + 16 + 19 * 16 + 16);
  spec.model = TrainerSpec::ModelKind::kDcnV2;
  spec.cross_layers = 2;
  spec.cross_rank = 20;
  // V and W of both cross layers, [20, 48]; biases stay.
  CHECK(rounded_parameters(*shape_of(spec, two_by_two())) ==
        64 * 16 + 16 + 48 * 16 + 16 + 2 * 2 * 20 * 48);
}

TEST_CASE("memory for rounded weights counts in bfloat16 alone", "[trainer][spec]") {
  TrainerSpec spec;
  spec.threads = 2;
  const ModelShape shape = shape_of(spec, two_by_two()).value();
  const std::uint64_t exact = model_bytes(spec, shape, 64, MostIds::one_each(64, 2));
  spec.precision = TrainerSpec::Precision::kBf16;
  CHECK(model_bytes(spec, shape, 64, MostIds::one_each(64, 2)) ==
        exact + 2 * (3 * rounded_parameters(shape) + 2 * kModelGroupRows * row_activations(shape)));
}

TEST_CASE("the copies that a checkpoint makes of hashed tables count as tables",
          "[trainer][spec]") {
  TrainerSpec spec;
  spec.tables.storage = TrainerSpec::Storage::kHashed;
  const ModelShape shape = shape_of(spec, two_by_two()).value();
  const std::uint64_t with_checkpoints = table_bytes(spec, shape);
  spec.checkpoint = "";
  CHECK(table_bytes(spec, shape) + 24 * shape.all_table_rows() == with_checkpoints);
}

TEST_CASE("lists that are long take memory for their ids and for the search of their rows",
          "[trainer][spec]") {
  TrainerSpec spec;
  const ModelShape shape = shape_of(spec, two_by_two()).value();  // tables of 100 and 65536 rows
  const MostIds plain = MostIds::one_each(64, 2);
  const MostIds lists{.all = 64'064, .of_feature = {64, 64'000}};
  CHECK(touched_rows(shape, plain) == 128);
  CHECK(touched_rows(shape, lists) == 64'064);
  CHECK(touched_rows(shape, lists, 2) == 100 + 65'536);
  CHECK(touched_rows(shape, {.all = 500, .of_feature = {400, 400}}) == 500);
  CHECK(finder_bytes(shape, plain, false) == 16 * 128 + 12 * 128);
  CHECK(finder_bytes(shape, lists, false) == 16 * 131'072 + 12 * 64'064);
  CHECK(finder_bytes(shape, lists, true) == 16 * (128 + 131'072) + 12 * 64'064);
  const std::uint64_t more = (kMostExpectedBatches + 1) * (4 + 16) * (64'064 - 128) +
                             4 * 16 * (64'064 - 128) + finder_bytes(shape, lists, false) -
                             finder_bytes(shape, plain, false);
  CHECK(model_bytes(spec, shape, 64, lists) == model_bytes(spec, shape, 64, plain) + more);
}

TEST_CASE("columns that repeat take a vector and its sums for each list", "[trainer][spec]") {
  TrainerSpec spec;
  Schema schema = two_by_two();
  const ModelShape shape = shape_of(spec, schema).value();
  CHECK(repeated_bytes(spec, shape, schema, 64) == 0);
  schema.repeated = {{.dense = {0}, .sparse = {1}}};
  CHECK(repeated_bytes(spec, shape, schema, 64) == 64 * 16 * 12);
  spec.device = "cuda";
  CHECK(repeated_bytes(spec, shape, schema, 64) == 0);
}

TEST_CASE("only a model that learns takes memory", "[trainer][spec]") {
  TrainerSpec spec;
  const auto shape = shape_of(spec, two_by_two()).value();
  const std::uint64_t tables = 4 * shape.table_parameters();
  const std::uint64_t with_checkpoints = model_bytes(spec, shape, 1024, MostIds::one_each(1024, 2));
  spec.checkpoint = "";
  CHECK(model_bytes(spec, shape, 1024, MostIds::one_each(1024, 2)) + BlockRing::kBytes +
            2 * 4 * shape.dense_parameters() ==
        with_checkpoints);
  CHECK(model_bytes(spec, shape, 1024, MostIds::one_each(1024, 2)) > 2 * tables);
  spec.optimizer = TrainerSpec::Optimizer::kSgd;
  CHECK(model_bytes(spec, shape, 1024, MostIds::one_each(1024, 2)) < 2 * tables);
  spec.model = TrainerSpec::ModelKind::kNone;
  CHECK(model_bytes(spec, shape, 1024, MostIds::one_each(1024, 2)) == 0);
}
