#include "trainer/evaluation/evaluation.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

using Losses = std::vector<std::optional<double>>;

/// An evaluation every ten steps with these log losses, and one minus them as AUC.
std::vector<Evaluated> with_losses(const Losses& losses) {
  std::vector<Evaluated> all;
  for (const auto& loss : losses) {
    Evaluated one{.step = 10 * (all.size() + 1), .quality = {.rows = 7, .positives = 3}};
    one.quality.log_loss = loss;
    if (loss) one.quality.auc = 1 - *loss;
    all.push_back(one);
  }
  return all;
}

EvaluationState evaluation_state(const Losses& losses, std::uint64_t patience,
                                 TrainerSpec::Metric metric = TrainerSpec::Metric::kLogLoss) {
  TrainerSpec spec;
  spec.early_stopping = patience;
  spec.early_stopping_metric = metric;
  return judge(spec, with_losses(losses));
}

}  // namespace

TEST_CASE("a run has had enough after so many evaluations without gain", "[trainer][evaluation]") {
  CHECK_FALSE(evaluation_state({}, 1).enough);
  CHECK_FALSE(evaluation_state({}, 1).best_step);
  CHECK_FALSE(evaluation_state({0.5, 0.4, 0.41}, 2).enough);
  CHECK(evaluation_state({0.5, 0.4, 0.41, 0.42}, 2).enough);
  CHECK(evaluation_state({0.5, 0.4, 0.41, 0.42}, 2).best_step == 20);
  CHECK(evaluation_state({0.5, 0.4, 0.41, 0.42}, 2).without_gain == 2);
  // A gain in between restarts the count; an equal value is no gain.
  CHECK_FALSE(evaluation_state({0.5, 0.4, 0.41, 0.39, 0.39}, 2).enough);
  CHECK(evaluation_state({0.5, 0.4, 0.41, 0.39, 0.39}, 2).best_step == 40);
  CHECK(evaluation_state({0.5, 0.5}, 1).best_step == 10);
  CHECK_FALSE(evaluation_state({0.5, 0.6, 0.7, 0.8}, 0).enough);
}

TEST_CASE("the metric decides what a gain is", "[trainer][evaluation]") {
  const auto metric = TrainerSpec::Metric::kAuc;
  // The AUC is one minus the loss here: the lowest loss is the highest AUC.
  CHECK(evaluation_state({0.5, 0.4, 0.45}, 1, metric).best_step == 20);
  auto all = with_losses({0.5, 0.4});
  all[0].quality.auc = 0.8;
  all[1].quality.auc = 0.7;
  TrainerSpec spec;
  CHECK(judge(spec, all).best_step == 20);
  spec.early_stopping_metric = metric;
  CHECK(judge(spec, all).best_step == 10);
}

TEST_CASE("an evaluation without the figure is no gain", "[trainer][evaluation]") {
  CHECK(evaluation_state({std::nullopt, std::nullopt}, 2).enough);
  CHECK_FALSE(evaluation_state({std::nullopt}, 2).best_step);
  CHECK(evaluation_state({std::nullopt, 0.9}, 2).best_step == 20);
}

TEST_CASE("rows of one class, which have no AUC, end no run", "[trainer][evaluation]") {
  TrainerSpec spec;
  spec.early_stopping = 1;
  spec.early_stopping_metric = TrainerSpec::Metric::kAuc;
  auto all = with_losses({0.5, 0.6, 0.7});
  for (Evaluated& one : all) one.quality.auc.reset();
  CHECK(judge(spec, all).enough);
  for (const std::uint64_t positives : {0, 7}) {
    for (Evaluated& one : all) one.quality.positives = positives;
    CHECK_FALSE(judge(spec, all).enough);
    CHECK_FALSE(judge(spec, all).best_step);
  }
  spec.early_stopping_metric = TrainerSpec::Metric::kLogLoss;
  CHECK(judge(spec, all).enough);
}

TEST_CASE("evaluations are restored from a checkpoint bit for bit", "[trainer][evaluation]") {
  auto all = with_losses({1.0 / 3, std::nullopt, 0.1});
  all[0].quality.auc_error = 1e-300;
  all[0].quality.calibration = 0.1 + 0.2;
  all[2].quality.normalized_entropy = 0.7;
  all[2].bad_rows = 3;
  CHECK(parse_evaluations(to_json(all)) == all);
  CHECK(to_json(std::vector<Evaluated>{}).empty());
  CHECK(parse_evaluations("") == std::vector<Evaluated>{});
}

TEST_CASE("evaluations of a checkpoint without counts of damaged rows are restored",
          "[trainer][evaluation]") {
  const auto all = with_losses({0.5, 0.25});
  std::string older = to_json(all);
  const std::string count = "\"bad_rows\":0,";
  for (auto at = older.find(count); at != std::string::npos; at = older.find(count)) {
    older.erase(at, count.size());
  }
  CHECK(older != to_json(all));
  CHECK(parse_evaluations(older) == all);
}

TEST_CASE("text that is not a list of evaluations is refused", "[trainer][evaluation]") {
  const std::string good = to_json(with_losses({0.5}));
  REQUIRE(parse_evaluations(good));
  CHECK_FALSE(parse_evaluations("{"));
  CHECK_FALSE(parse_evaluations("[]"));
  CHECK_FALSE(parse_evaluations("{\"version\":2,\"evaluations\":[]}"));
  CHECK_FALSE(parse_evaluations("{\"version\":1}"));
  CHECK_FALSE(parse_evaluations("{\"version\":1,\"evaluations\":[3]}"));
  for (const char* key : {"step", "rows", "positives", "auc", "auc_error", "log_loss",
                          "normalized_entropy", "calibration", "bad_rows"}) {
    std::string bad = good;
    const auto at = bad.find(std::string("\"") + key + "\":") + std::string(key).size() + 3;
    bad.replace(at, bad.find_first_of(",}", at) - at, "\"x\"");
    INFO(bad);
    CHECK_FALSE(parse_evaluations(bad));
  }
}
