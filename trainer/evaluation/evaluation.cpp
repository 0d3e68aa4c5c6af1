#include "trainer/evaluation/evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/text/json_fields.h"
#include "core/base/text/json_text.h"

namespace forebay {
namespace {

constexpr int kBits = 20;

/// The upper bits of a float as a number in the same order; both zeros map to one bin.
std::size_t bin_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score == 0 ? 0.0F : score);
  const std::uint32_t in_order = (bits >> 31) == 0 ? bits | 0x80000000U : ~bits;
  return in_order >> (32 - kBits);
}

}  // namespace

StreamingAuc::StreamingAuc() : bins_(std::size_t{1} << kBits) {
  static_assert((std::size_t{1} << kBits) * sizeof(Bin) == kBytes);
}

void StreamingAuc::add(float score, bool positive) {
  Bin& bin = bins_[bin_of(score)];
  ++(positive ? bin.positives : bin.negatives);
}

std::optional<StreamingAuc::Area> StreamingAuc::area() const {
  // Sums of whole numbers; above 2^53 the rounding error is far below the bins' error.
  double positives = 0;
  double negatives = 0;
  double wins = 0;
  double ties = 0;
  for (const Bin& bin : bins_) {
    const auto high = static_cast<double>(bin.positives);
    const auto low = static_cast<double>(bin.negatives);
    wins += high * negatives;
    ties += high * low;
    positives += high;
    negatives += low;
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  const double pairs = positives * negatives;
  return Area{.auc = (wins + ties / 2) / pairs, .error = ties / 2 / pairs};
}

double log_loss_of(double logit, bool label) {
  const double margin = label ? logit : -logit;
  return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
}

std::optional<double> auc_of_sorted(std::span<const float> positives,
                                    std::span<const float> negatives) {
  if (positives.empty() || negatives.empty()) return std::nullopt;
  // Twice the number of correctly ordered (positive, negative) pairs; a tie counts one.
  std::uint64_t wins = 0;
  std::size_t below = 0;
  std::size_t not_above = 0;
  for (float score : positives) {
    while (below < negatives.size() && negatives[below] < score) ++below;
    while (not_above < negatives.size() && negatives[not_above] <= score) ++not_above;
    wins += below + not_above;
  }
  return static_cast<double>(wins) / 2 / static_cast<double>(positives.size()) /
         static_cast<double>(negatives.size());
}

double entropy_of(double chance) {
  const auto term = [](double share) { return share > 0 ? -share * std::log(share) : 0.0; };
  return term(chance) + term(1 - chance);
}

std::uint64_t Evaluation::bytes(Auc kind, std::uint64_t rows) {
  // A growing vector briefly holds its values twice, the second time with as much spare capacity.
  constexpr std::uint64_t kPerRow = 3 * sizeof(float);
  if (kind == Auc::kStreaming) return StreamingAuc::kBytes;
  if (kind == Auc::kExact || rows <= kMostExactRows) return rows * kPerRow;
  return kMostExactRows * kPerRow + StreamingAuc::kBytes;
}

Status Evaluation::add(std::span<const float> scores, std::span<const float> labels) {
  FOREBAY_CHECK(scores.size() == labels.size());
  for (std::size_t row = 0; row < scores.size(); ++row) {
    const auto where = [&] { return "evaluation, row " + std::to_string(rows_ + 1); };
    if (!std::isfinite(scores[row])) {
      return fail(Code::kCorrupt,
                  where() +
                      ": its score is not a finite number; look for nan, inf and huge values "
                      "in the dense columns of the evaluation data, or lower "
                      "trainer.learning_rate");
    }
    if (labels[row] != 0 && labels[row] != 1) {
      return fail(Code::kCorrupt, where() + ": its label is " + std::to_string(labels[row]) +
                                      " and must be 0 or 1");
    }
    keep(scores[row], labels[row] == 1);
  }
  return {};
}

void Evaluation::keep(float score, bool positive) {
  ++rows_;
  if (positive) ++clicks_;
  loss_sum_ += log_loss_of(score, positive);
  chance_sum_ += 1 / (1 + std::exp(-static_cast<double>(score)));
  if (kind_ == Auc::kAuto && !streamed_ && rows_ > kMostExactRows) stream();
  if (streamed_) return streamed_->add(score, positive);
  (positive ? positives_ : negatives_).push_back(score);
}

void Evaluation::stream() {
  streamed_.emplace();
  for (float score : positives_) streamed_->add(score, true);
  for (float score : negatives_) streamed_->add(score, false);
  positives_ = {};
  negatives_ = {};
}

Quality Evaluation::finish() {
  Quality quality;
  quality.rows = rows_;
  quality.positives = clicks_;
  if (streamed_) {
    if (const auto area = streamed_->area()) {
      quality.auc = area->auc;
      quality.auc_error = area->error;
    }
  } else {
    std::sort(positives_.begin(), positives_.end());
    std::sort(negatives_.begin(), negatives_.end());
    quality.auc = auc_of_sorted(positives_, negatives_);
  }
  if (rows_ == 0) return quality;
  const auto rows = static_cast<double>(rows_);
  const auto clicks = static_cast<double>(clicks_);
  quality.log_loss = loss_sum_ / rows;
  if (clicks_ > 0) quality.calibration = chance_sum_ / clicks;
  if (clicks_ > 0 && clicks_ < rows_) {
    quality.normalized_entropy = *quality.log_loss / entropy_of(clicks / rows);
  }
  return quality;
}

// In the order of their names, as checkpoints have them.
template <class Fields>
void list(Fields& fields, Evaluated& value) {
  Quality& quality = value.quality;
  fields("auc", quality.auc);
  fields("auc_error", quality.auc_error);
  fields("bad_rows", value.bad_rows);
  fields("calibration", quality.calibration);
  fields("log_loss", quality.log_loss);
  fields("normalized_entropy", quality.normalized_entropy);
  fields("positives", quality.positives);
  fields("rows", quality.rows);
  fields("step", value.step);
}

namespace {

constexpr std::uint64_t kRecordVersion = 1;

struct Record {
  std::vector<Evaluated> evaluations;
  std::uint64_t version = kRecordVersion;
};

template <class Fields>
void list(Fields& fields, Record& value) {
  fields("evaluations", value.evaluations);
  fields("version", value.version);
}

/// The figure's value, with its sign such that larger is better.
std::optional<double> merit(TrainerSpec::Metric metric, const Quality& quality) {
  if (metric == TrainerSpec::Metric::kAuc) return quality.auc;
  if (!quality.log_loss) return std::nullopt;
  return -*quality.log_loss;
}

/// Adds the count that records of older versions lack: they did not name damaged rows.
void add_missing_bad_rows(nlohmann::json& record) {
  if (!record.is_object() || !record.contains("evaluations")) return;
  for (nlohmann::json& evaluated : record["evaluations"]) {
    if (!evaluated.is_object() || evaluated.contains("bad_rows")) continue;
    evaluated["bad_rows"] = std::uint64_t{0};
  }
}

bool is_of_one_class(const Quality& quality) {
  return quality.positives == 0 || quality.positives == quality.rows;
}

}  // namespace

EvaluationState judge(const TrainerSpec& spec, std::span<const Evaluated> evaluations) {
  EvaluationState state;
  std::optional<double> best;
  for (const Evaluated& evaluated : evaluations) {
    const auto now = merit(spec.early_stopping_metric, evaluated.quality);
    if (!now && is_of_one_class(evaluated.quality)) continue;
    ++state.without_gain;
    if (!now || (best && *now <= *best)) continue;
    best = now;
    state.best_step = evaluated.step;
    state.without_gain = 0;
  }
  state.enough = spec.early_stopping > 0 && state.without_gain >= spec.early_stopping;
  return state;
}

std::string to_json(std::span<const Evaluated> evaluations) {
  if (evaluations.empty()) return {};
  Record record{.evaluations = {evaluations.begin(), evaluations.end()}};
  return json_text(JsonFieldWriter::written(record)) + "\n";
}

std::optional<std::vector<Evaluated>> parse_evaluations(const std::string& text) {
  Record record;
  if (text.empty()) return record.evaluations;
  nlohmann::json object = parse_json(text);
  add_missing_bad_rows(object);
  std::string problem;
  JsonFieldReader fields(object, "", problem);
  list(fields, record);
  fields.finish();
  if (!problem.empty() || record.version != kRecordVersion) return std::nullopt;
  std::uint64_t before = 0;
  for (const Evaluated& each : record.evaluations) {
    const bool follows = &each == &record.evaluations.front() || before < each.step;
    const Quality& quality = each.quality;
    if (!follows || quality.positives > quality.rows || !std::isfinite(quality.auc_error)) {
      return std::nullopt;
    }
    before = each.step;
  }
  return std::move(record.evaluations);
}

}  // namespace forebay
