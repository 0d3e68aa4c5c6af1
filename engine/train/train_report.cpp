#include "engine/train/train_report.h"

#include <array>
#include <cstdio>

namespace forebay {
namespace {

std::string shown(const char* format, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

}  // namespace

std::string describe(const Quality& quality) {
  std::string words = quality.auc ? shown("AUC %.6f", *quality.auc)
                                  : std::string("no AUC (all rows are of one class)");
  if (quality.auc_error > 0) words += shown(" within %.2g", quality.auc_error);
  if (quality.log_loss) words += shown(", log loss %.6f", *quality.log_loss);
  if (quality.normalized_entropy) {
    words += shown(", normalized entropy %.4f", *quality.normalized_entropy);
  }
  if (quality.calibration) words += shown(", calibration %.4f", *quality.calibration);
  return words;
}

TrainEnd end_of_meeting(const Error& error) {
  const bool gone = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  return gone ? TrainEnd::failed(error) : TrainEnd::refused(error);
}

}  // namespace forebay
