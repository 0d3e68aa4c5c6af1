#include <limits>
#include <vector>

#include "trainer/model.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct FaultyRows {
  std::string say(double loss, const std::vector<float>& logits = {}) {
    Batch batch;
    batch.number = 12;
    batch.rows = 3;
    batch.dense_features = 2;
    batch.labels = labels.data();
    batch.dense = dense.data();
    const ModelShape shape{.dense_features = 2,
                           .table_rows = {5, 5},
                           .dense_names = {"age", "price"},
                           .sparse_names = {"shop", "item"}};
    const auto bad_vector = [&](std::size_t row) { return row == 1 ? 1U : 2U; };
    return bad_loss({.batch = batch, .loss = loss, .logits = logits, .bad_vector = bad_vector},
                    shape)
        .message;
  }
  bool says(const std::string& words, const std::vector<float>& logits = {}) {
    return say(kNan, logits).find(words) != std::string::npos;
  }

  std::vector<float> labels = {0, 1, 0};
  std::vector<float> dense = {1, 2, 3, 4, 5, 6};
};

}  // namespace

TEST_CASE("a loss that is not a number names its batch and the first bad row", "[trainer][loss]") {
  FaultyRows rows;
  CHECK(rows.says("the loss of batch 12 is not a number; lower trainer.learning_rate"));
  CHECK(rows.say(kInfinity).find("batch 12 is infinite;") != std::string::npos);
  CHECK(rows.says("row 2: its score is minus infinity;", {0, 1, -kInfinity}));
  CHECK(rows.says("row 1: its score is not a number, as item's table has", {0, kNan, 1}));
  rows.dense[5] = kNan;
  CHECK(rows.says("row 2: price is not a number;", {0, kNan, 1}));
  rows.labels[1] = kInfinity;
  CHECK(rows.says("row 1: its label is infinite;"));
}
