#include "trainer/model_description.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

ModelDescription sample() {
  TrainerSpec spec;
  spec.model = TrainerSpec::ModelKind::kDcnV2;
  spec.pooling = TrainerSpec::Pooling::kMean;
  spec.optimizer = TrainerSpec::Optimizer::kAdam;
  const Schema schema{.dense = {"price"}, .sparse = {{"shop", 30}, {"item"}}};
  return {.spec = spec, .shape = shape_of(spec, schema).value()};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("a description reads back as it was written", "[trainer][description]") {
  const ModelDescription written = sample();
  const auto read = parse_model(to_json(written), "model.json");
  REQUIRE(read);
  CHECK(read->shape == written.shape);
  CHECK(read->shape.sparse_names == std::vector<std::string>{"shop", "item"});
  CHECK(read->spec.model == written.spec.model);
  CHECK(read->spec.pooling == written.spec.pooling);
  CHECK(read->spec.optimizer == written.spec.optimizer);
  CHECK(to_json(*read) == to_json(written));
}

TEST_CASE("a change that a resume refuses is named by its key", "[trainer][description]") {
  const ModelDescription kept = sample();
  TrainerSpec spec = kept.spec;
  spec.learning_rate = 0.5;
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.table_optimizer = TrainerSpec::TableOptimizer::kRowwiseAdagrad;  // Adam's default.
  REQUIRE(may_go_on(kept, spec));
  std::string words;
  SECTION("network") {
    spec.model = TrainerSpec::ModelKind::kDlrm;
    words = "trainer.model was dcn_v2, is dlrm";
  }
  SECTION("pooling") {
    spec.pooling = TrainerSpec::Pooling::kSum;
    words = "trainer.pooling was mean, is sum";
  }
  SECTION("seed") {
    spec.seed = 7;
    words = "trainer.seed was 1, is 7";
  }
  SECTION("optimizer") {
    spec.optimizer = TrainerSpec::Optimizer::kSgd;
    words = "trainer.optimizer was adam, is sgd";
  }
  SECTION("the tables' optimizer") {
    spec.table_optimizer = TrainerSpec::TableOptimizer::kSgd;
    words = "trainer.table_optimizer was rowwise_adagrad, is sgd";
  }
  const auto refused = may_go_on(kept, spec);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{Code::kInvalid, "resume refused: " + words});
}

TEST_CASE("a damaged description is refused by name", "[trainer][description]") {
  const std::string whole = to_json(sample());
  std::string text;
  SECTION("nothing") {}
  SECTION("no object") { text = "[1]"; }
  SECTION("half of the text") { text = whole.substr(0, whole.size() / 2); }
  SECTION("an unknown network") { text = replaced(whole, "dcn_v2", "dcn_v9"); }
  SECTION("a table without rows") { text = replaced(whole, "\"rows\": 30", "\"rows\": 0"); }
  SECTION("a number as text") { text = replaced(whole, "\"rows\": 30", "\"rows\": \"30\""); }
  SECTION("an absurd width") {
    text = replaced(whole, "\"embedding_dim\": 16", "\"embedding_dim\": 1000000");
  }
  SECTION("a missing key") { text = replaced(whole, "\"pooling\"", "\"pulling\""); }
  const auto read = parse_model(text, "model.json");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Code::kCorrupt);
  CHECK(read.error().message == "model.json is damaged");
}

TEST_CASE("a description of another version is refused by its version", "[trainer][description]") {
  const auto read =
      parse_model(replaced(to_json(sample()), "\"version\": 1", "\"version\": 2"), "model.json");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Code::kInvalid);
}
