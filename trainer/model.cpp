#include "trainer/model.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace forebay {
namespace {

std::string describe(double number) {
  if (std::isnan(number)) return "not a number";
  return number < 0 ? "minus infinity" : "infinite";
}

/// Describes the row's first value that is not finite; empty if all values are finite.
std::string fault_in(const Batch& batch, const ModelShape& shape, std::size_t row) {
  if (!std::isfinite(batch.labels[row])) return "its label is " + describe(batch.labels[row]);
  for (std::size_t feature = 0; feature < batch.dense_features; ++feature) {
    const float value = batch.dense[row * batch.dense_features + feature];
    if (!std::isfinite(value)) return shape.dense_names[feature] + " is " + describe(value);
  }
  return "";
}

/// Describes the model's first value for the row that is not finite; empty if all are finite.
std::string fault_of_model(const BadLoss& what, const ModelShape& shape, std::size_t row) {
  if (std::isfinite(what.logits[row])) return "";
  std::string score = "its score is " + describe(what.logits[row]);
  const std::size_t vector = what.bad_vector ? what.bad_vector(row) : shape.table_rows.size();
  if (vector == shape.table_rows.size()) return score;
  return score + ", as " + shape.sparse_names[vector] +
         "'s table has rows for its ids that are not finite";
}

/// Returns ", first that of its row 7: …"; empty if no row is known to be at fault.
std::string row_at_fault(const BadLoss& what, const ModelShape& shape) {
  const auto announced = [&](std::size_t row, const std::string& fault) {
    return ", first that of its row " + std::to_string(what.first_row + row) + ": " + fault;
  };
  for (std::size_t row = 0; row < what.batch.rows; ++row) {
    const std::string fault = fault_in(what.batch, shape, row);
    if (!fault.empty()) return announced(row, fault);
  }
  for (std::size_t row = 0; row < what.logits.size(); ++row) {
    const std::string fault = fault_of_model(what, shape, row);
    if (!fault.empty()) return announced(row, fault);
  }
  return "";
}

constexpr const char* kAdvice =
    "; lower trainer.learning_rate, or look for nan, inf and huge values in the dense columns "
    "(log1p and clamp tame them)";

/// Returns "; its largest dense value is price = 3e+30 in row 7"; empty without dense columns.
std::string largest_value(const BadUpdate& what, const ModelShape& shape) {
  const Batch& batch = what.batch;
  const std::span<const float> dense(batch.dense, batch.rows * batch.dense_features);
  if (dense.empty()) return "";
  const auto at = static_cast<std::size_t>(
      std::ranges::max_element(dense, {}, [](float value) { return std::abs(value); }) -
      dense.begin());
  std::array<char, 32> value{};
  std::snprintf(value.data(), value.size(), "%.3g", static_cast<double>(dense[at]));
  return "; its largest dense value is " + shape.dense_names[at % batch.dense_features] + " = " +
         value.data() + " in row " + std::to_string(what.first_row + at / batch.dense_features);
}

}  // namespace

Status check_batch(const Batch& batch, const ModelShape& shape, bool may_be_empty) {
  const bool rows = batch.rows > 0 || may_be_empty;
  if (rows && batch.dense_features == shape.dense_features) return {};
  return fail(Code::kInvalid,
              "batch " + std::to_string(batch.number) + " has " + std::to_string(batch.rows) +
                  " rows of " + std::to_string(batch.dense_features) +
                  " dense features, the model takes " + std::to_string(shape.dense_features));
}

Error bad_loss(const BadLoss& what, const ModelShape& shape) {
  return {Code::kCorrupt, "the loss of batch " + std::to_string(what.batch.number) + " is " +
                              describe(what.loss) + row_at_fault(what, shape) + kAdvice};
}

Error bad_update(const BadUpdate& what, const ModelShape& shape) {
  return {Code::kCorrupt, "training on batch " + std::to_string(what.batch.number) +
                              " made weights or the optimizer's state infinite" +
                              largest_value(what, shape) + kAdvice};
}

Result<double> EmulatedModel::step(const Batch&) {
  if (step_.count() > 0) pause_(step_);
  return 0;
}

Status EmulatedModel::predict(const Batch&, std::span<float>) {
  return fail(Code::kInvalid,
              "trainer.evaluate: only a model that learns can be evaluated; "
              "leave it out, or set trainer.model to \"dlrm\"");
}

void EmulatedModel::wait(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec timeout = {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
  ppoll(nullptr, 0, &timeout, nullptr);
}

}  // namespace forebay
